def test_the_page_about_arrays_says_what_happens(session):
    assert session("arrays.md") > 25
