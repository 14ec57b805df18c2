def test_the_page_about_kernels_says_what_happens(session):
    assert session("kernels.md") > 15
