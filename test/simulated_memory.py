"""The memory of a simulated GPU: files that no array sees, which other processes open by handle or descriptor."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections import Counter
from types import SimpleNamespace
from typing import Any

OOM, INVALID = 2, 1
PIECE = 2 << 20  # of physical memory
_PRIVATE, _SHARED, _FIXED, _ANONYMOUS = 2, 1, 16, 32  # mmap(2)
_FAILED = ctypes.c_void_p(-1).value
_libc = ctypes.CDLL(None)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class Names:
    """An enum of the driver's: any name of it is itself."""

    def __getattr__(self, name: str) -> str:
        return name


class Handle:
    """An inter-process handle: 64 bytes, by which another process finds the file."""

    def __init__(self, *words: int) -> None:
        self.bytes = ctypes.create_string_buffer(struct.pack("<8q", *words, *[0] * (8 - len(words))), 64)

    def getPtr(self):
        return ctypes.addressof(self.bytes)


class _Wanted(SimpleNamespace):
    """What memory is asked for."""

    def __init__(self) -> None:
        super().__init__(location=SimpleNamespace())


class Memory:
    """The driver's functions for memory: allocations with handles, pinned and registered memory of the host, and VMM.

    ``capacity`` is how many bytes there are; ``can_share`` whether by handles, ``can_export`` whether by descriptors.
    """

    CUipcMemHandle = CUipcEventHandle = Handle
    CUmemAllocationProp, CUmemAccessDesc = _Wanted, SimpleNamespace
    CUmemAllocationType = CUmemAllocationHandleType = CUmemLocationType = CUmemAccess_flags = Names()
    CUmemAllocationGranularity_flags = Names()

    def __init__(self, capacity: int) -> None:
        self.calls, self.capacity = Counter[str](), capacity
        self.can_share = self.can_export = True
        self.memory: dict[int, mmap.mmap] = {}
        self.pinned: dict[int, Any] = {}
        self.registered: dict[int, int] = {}
        self.files: dict[int, int] = {}  # address of memory, or event, that another process may open → its file
        self.mapped: dict[int, mmap.mmap] = {}  # memory of other processes
        self.physical: dict[int, int] = {}  # handle → file
        self.made: dict[int, int] = {}  # inode of physical memory made here → bytes
        self.ranges: dict[int, tuple[int, int | None]] = {}  # address → bytes, and the file that lies there

    def _taken(self) -> int:
        """How many bytes are not free: physical memory is there as long as a handle or a mapping here is."""
        kept = {os.fstat(file).st_ino for file in (*self.physical.values(), *self._lying())}
        self.made = {inode: size for inode, size in self.made.items() if inode in kept}
        return sum(map(len, self.memory.values())) + sum(self.made.values())

    def _lying(self) -> list[int]:
        return [file for _, file in self.ranges.values() if file is not None]

    def cuMemGetInfo(self):
        return 0, self.capacity - self._taken(), self.capacity

    def cuMemAlloc(self, size):
        self.calls["cuMemAlloc"] += 1
        if self._taken() + size > self.capacity:
            return OOM, None
        file, made = shared(size)
        address = ctypes.addressof(ctypes.c_char.from_buffer(made))
        self.memory[address], self.files[address] = made, file
        return 0, address

    def cuMemFree(self, address):
        if int(address) not in self.memory:
            return (INVALID,)
        del self.memory[int(address)]
        os.close(self.files.pop(int(address)))
        return (0,)

    def cuMemGetAddressRange(self, address):
        for begin, memory in (*self.memory.items(), *self.mapped.items()):
            if 0 <= int(address) - begin < len(memory):
                return 0, begin, len(memory)
        return INVALID, None, 0

    def cuIpcGetMemHandle(self, address):
        if int(address) not in self.files:
            return INVALID, None
        return 0, Handle(os.getpid(), self.files[int(address)], len(self.memory[int(address)]))

    def cuIpcOpenMemHandle(self, handle, flags):
        self.calls["cuIpcOpenMemHandle"] += 1
        found = opened(handle)
        if found is None:
            return INVALID, None
        address = ctypes.addressof(ctypes.c_char.from_buffer(found))
        self.mapped[address] = found
        return 0, address

    def cuIpcCloseMemHandle(self, address):
        return (0 if self.mapped.pop(int(address), None) else INVALID,)

    def cuMemHostAlloc(self, size, flags):
        made = ctypes.create_string_buffer(size)
        self.pinned[ctypes.addressof(made)] = made
        return 0, ctypes.addressof(made)

    def cuMemFreeHost(self, address):
        return (0 if self.pinned.pop(int(address), None) else INVALID,)

    def cuMemHostRegister(self, address, size, flags):
        assert address not in self.registered
        self.registered[address] = size
        return (0,)

    def cuMemHostUnregister(self, address):
        return (0 if self.registered.pop(int(address), None) else INVALID,)

    def cuMemHostGetDevicePointer(self, address, flags):
        return 0, address

    def _owns(self, address):
        return any(0 <= address - begin < len(memory) for begin, memory in self.memory.items())

    def cuMemGetAllocationGranularity(self, wanted, option):
        return 0, PIECE

    def cuMemCreate(self, size, wanted, flags):
        assert wanted.location.id == 0
        assert "POSIX" in wanted.requestedHandleTypes
        self.calls["cuMemCreate"] += 1
        if size % PIECE:
            return INVALID, None
        if self._taken() + size > self.capacity:
            return OOM, None
        file = os.memfd_create("simulated GPU")
        os.ftruncate(file, size)
        self.made[os.fstat(file).st_ino] = size
        return 0, self._held(file)

    def _held(self, file):
        self.physical[number := max(self.physical, default=0) + 1] = file
        return number

    def cuMemRelease(self, handle):
        if int(handle) not in self.physical:
            return (INVALID,)
        os.close(self.physical.pop(int(handle)))
        return (0,)

    def cuMemExportToShareableHandle(self, handle, kind, flags):
        assert "POSIX" in kind
        return 0, os.dup(self.physical[int(handle)])

    def cuMemImportFromShareableHandle(self, file, kind):
        assert "POSIX" in kind
        self.calls["cuMemImportFromShareableHandle"] += 1
        if not os.readlink(f"/proc/self/fd/{file}").startswith("/memfd:simulated GPU"):
            return INVALID, None
        return 0, self._held(os.dup(file))

    def cuMemAddressReserve(self, size, alignment, address, flags):
        if size % PIECE or not size:
            return INVALID, None
        at = _libc.mmap(None, size, 0, _PRIVATE | _ANONYMOUS, -1, 0)
        assert at != _FAILED
        self.ranges[at] = size, None
        return 0, at

    def cuMemMap(self, address, size, offset, handle, flags):
        file = self.physical[int(handle)]
        if self.ranges.get(int(address)) != (size, None) or offset or size > os.fstat(file).st_size:
            return (INVALID,)
        assert _libc.mmap(int(address), size, 0, _SHARED | _FIXED, file, 0) == int(address)
        self.ranges[int(address)] = size, os.dup(file)
        return (0,)

    def cuMemSetAccess(self, address, size, accesses, count):
        (access,) = accesses
        assert (count, access.location.id, "READWRITE" in access.flags) == (1, 0, True)
        known = self.ranges.get(int(address), (0, None))
        if known[0] != size or known[1] is None:
            return (INVALID,)
        return (_libc.mprotect(int(address), size, mmap.PROT_READ | mmap.PROT_WRITE),)

    def cuMemUnmap(self, address, size):
        known, file = self.ranges.get(int(address), (0, None))
        if known != size or file is None:
            return (INVALID,)
        assert _libc.mmap(int(address), size, 0, _PRIVATE | _ANONYMOUS | _FIXED, -1, 0) == int(address)
        os.close(file)
        self.ranges[int(address)] = size, None
        return (0,)

    def cuMemAddressFree(self, address, size):
        if self.ranges.get(int(address)) != (size, None):
            return (INVALID,)
        del self.ranges[int(address)]
        return (_libc.munmap(int(address), size),)


def shared(size):
    file = os.memfd_create("simulated GPU")
    os.ftruncate(file, size)
    return file, mmap.mmap(file, size)


def opened(handle):
    """Map what another process has; the driver refuses one's own."""
    pid, file, size = struct.unpack_from("<3q", handle.bytes)
    if pid == os.getpid():
        return None
    try:
        found = os.open(f"/proc/{pid}/fd/{file}", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return mmap.mmap(found, size) if os.fstat(found).st_size == size else None
    finally:
        os.close(found)
