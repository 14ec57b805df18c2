"""Tests of controllers and plants on a rig; ``plugin`` is what pytest loads, and needs no import."""
