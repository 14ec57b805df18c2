"""An array that a struct in memory refers to lives as long as that memory, whichever way the struct came there."""

import gc
import weakref

import numpy as np
import pytest
from devices import EVERY, on

import sim_node as sn


@sn.struct
class Link:
    count: int
    values: sn.array(dtype=float)


@sn.kernel
def first_of(links: sn.array(dtype=Link), to: sn.array(dtype=float)):
    i = sn.tid()
    if len(links[i].values) > 0:
        to[i] = links[i].values[0]


class Values(sn.Array):
    """An array that can be watched."""

    __slots__ = ("__weakref__",)


def referring(device):
    """An instance that refers to an array, and how to see whether that still lives."""
    made = sn.array([7.0], device=device)
    values = Values(made.owner, made.element, made.shape)
    return Link(1, values), weakref.ref(values)


WAYS = {
    "element": lambda links, link: links.__setitem__(1, link),
    "tuple": lambda links, link: links.__setitem__(1, (1, link.values)),
    "element of a part": lambda links, link: links[1:].__setitem__(0, link),
    "part": lambda links, link: links.__setitem__(slice(1, None), link),
    "part filled": lambda links, link: links[1:].fill_(link),
    "part assigned": lambda links, link: links[1:2].assign([link]),
    "list": lambda links, link: links[[1]].fill_(link),
    "part of a part": lambda links, link: links[::-1].__setitem__(slice(0, 1), link),
}
COPIES = {
    "itself": lambda links: links,
    "clone": sn.clone,
    "array": lambda links: sn.array(links, device=links.device),
    "copy": lambda links: sn.copy(made := sn.zeros_like(links), links) or made,
    "copy of a part": lambda links: sn.copy(made := sn.zeros_like(links), links[1:], 1) or made,
    "contiguous": lambda links: links.reshape((2, 1)).transpose().contiguous().flatten(),
    "indexed": lambda links: links[[0, 1]].contiguous(),
    "assigned to a part": lambda links: (made := sn.zeros_like(links))[1:].assign(links[1:]) or made,
}


@EVERY
@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_struct_refers_to_lives_as_long_as_memory_has_it(device, way, copied):
    links = sn.zeros(2, Link, device=device)
    link, watched = referring(device)
    WAYS[way](links, link)
    del link
    links = COPIES[copied](links)
    gc.collect()
    assert watched() is not None
    to = on(device, np.zeros(2, np.float32))
    sn.launch(first_of, 2, [links], [to], device=device)
    assert 7.0 in (to if isinstance(to, np.ndarray) else to.numpy())
    del links
    gc.collect()
    assert watched() is None


@EVERY
def test_an_element_tells_the_array_that_it_was_set_to_refer_to(device):
    links = sn.zeros(3, Link, device=device)
    arrays = [sn.array([float(i)], device=device) for i in range(3)]
    for at, values in enumerate(arrays):
        links[at] = Link(at, values)
    assert [link.values for link in links] == arrays
    assert [link.values for link in links.list()] == arrays
    assert all(links[i:][0].values is values for i, values in enumerate(arrays))


@EVERY
def test_an_element_that_is_set_again_keeps_what_it_refers_to_alone(device):
    links = sn.empty(2, Link, device=device)  # of which the padding is anything
    (old, watched), (new, kept) = referring(device), referring(device)
    links[1] = old
    del old
    links[1] = new
    del new
    gc.collect()
    assert (watched(), kept()) == (None, links[1].values)


@EVERY
def test_elements_read_one_after_the_other_keep_their_own(device):
    """What each keeps is told apart by where the elements are, and not where a copy was that is gone."""
    links = sn.zeros(100, Link, device=device)
    for at in range(100):
        links[at] = Link(at, sn.array([float(at)], device=device))
        assert links[at].values.numpy()[0] == at
    gc.collect()
    to = sn.zeros(100, device=device)
    sn.launch(first_of, 100, [links], [to], device=device)
    assert to.list() == list(range(100))


def test_arrays_and_structs_that_refer_to_them_are_in_one_memory(simulate):
    gpu = simulate().device
    here, there = sn.zeros(2, Link), sn.zeros(2, Link, device=gpu)
    link = referring(gpu)[0]
    there[0] = link
    for refused in (lambda: here.__setitem__(0, link), lambda: here.fill_(link), lambda: sn.array([link])):
        with pytest.raises(TypeError, match="has the wrong device; the array is in the memory of cpu"):
            refused()
    with pytest.raises(TypeError, match="has the wrong device; the array is in the memory of cuda:0"):
        there[1] = referring(None)[0]
    for refused in (lambda: there.to("cpu"), lambda: here.assign(there), lambda: sn.clone(there, "cpu")):
        with pytest.raises(TypeError, match="Link refers to arrays in the memory of cuda:0, which cpu does not read"):
            refused()
