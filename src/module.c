/* The extension module sim_node._native: each file adds its own types. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "module.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "sim_node._native", "The parts of sim_node that run without Python.", -1, NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (sn_add_ring(module) < 0 || sn_add_trace(module) < 0 || sn_add_entry(module) < 0 || sn_add_stepper(module) < 0 ||
        sn_add_nvtx(module) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
