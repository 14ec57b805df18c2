/* _native.Reader and _native.Tick, added to the module beside Ring. */
#ifndef SIM_NODE_READER_OBJECT_H
#define SIM_NODE_READER_OBJECT_H

#include <Python.h>

int sn_add_reader(PyObject *module);

#endif
