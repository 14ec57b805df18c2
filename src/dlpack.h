/* DLPack's structures, as its specification lays them out (dmlc/dlpack, dlpack.h, ABI 1.x and the one before versions). */
#ifndef SIM_NODE_DLPACK_H
#define SIM_NODE_DLPACK_H

#include <stdint.h>

typedef struct {
    int32_t type, id; /* 1, 0: the host; 2, N: GPU N of CUDA's */
} sn_dl_device;

typedef struct {
    uint8_t code, bits; /* code: 0 int, 1 uint, 2 float, 6 bool */
    uint16_t lanes;
} sn_dl_type;

typedef struct {
    void *data;
    sn_dl_device device;
    int32_t ndim;
    sn_dl_type type;
    int64_t *shape, *strides; /* in elements; strides NULL: C order */
    uint64_t byte_offset;
} sn_dl_tensor;

/* A tensor with what gives it back. */
typedef struct sn_dl_managed {
    sn_dl_tensor tensor;
    void *owner;
    void (*deleter)(struct sn_dl_managed *self);
} sn_dl_managed;

typedef struct {
    uint32_t major, minor;
} sn_dl_version;

typedef struct sn_dl_versioned {
    sn_dl_version version;
    void *owner;
    void (*deleter)(struct sn_dl_versioned *self);
    uint64_t flags;
    sn_dl_tensor tensor;
} sn_dl_versioned;

enum { SN_DL_MAJOR = 1, SN_DL_READONLY = 1, SN_DL_COPIED = 2 };

/* Names of capsules, before and after somebody took what is inside. */
#define SN_DL_NAME "dltensor"
#define SN_DL_USED "used_dltensor"
#define SN_DL_VERSIONED_NAME "dltensor_versioned"
#define SN_DL_VERSIONED_USED "used_dltensor_versioned"

#endif
