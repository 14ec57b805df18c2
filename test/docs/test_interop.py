def test_the_page_about_other_libraries_says_what_happens(session):
    assert session("interop.md") > 5
