def test_the_page_about_stability_says_what_happens(session):
    assert session("stability.md") > 8
