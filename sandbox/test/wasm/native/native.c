// A module of Python with machine code, for tests. It declares what it uses of Python's C API (32 bits), so it needs no headers:
//
//     clang --target=wasm32-unknown-emscripten -Os -fPIC -fvisibility=hidden -c native.c
//     wasm-ld --experimental-pic -shared --allow-undefined --export=PyInit_native --strip-all native.o -o native.so

#define IMPORT(name) __attribute__((import_module("env"), import_name(#name)))

typedef struct object PyObject;

typedef struct {
  const char *name;
  PyObject *(*call)(PyObject *self, PyObject *argument);
  int flags;
  const char *doc;
} PyMethodDef;

typedef struct {
  int reference_count;
  void *type, *init;
  int index;
  void *copy;
  const char *name, *doc;
  int size;
  PyMethodDef *methods;
  void *slots, *traverse, *clear, *free;
} PyModuleDef;

enum { API_VERSION = 1013, NO_ARGUMENTS = 4, ONE_ARGUMENT = 8 };

IMPORT(PyModule_Create2) PyObject *PyModule_Create2(PyModuleDef *definition, int api_version);
IMPORT(PyLong_FromLong) PyObject *PyLong_FromLong(long value);
IMPORT(PyLong_AsLong) long PyLong_AsLong(PyObject *value);
IMPORT(emscripten_date_now) double emscripten_date_now(void);
IMPORT(emscripten_run_script_int) int emscripten_run_script_int(const char *script);

static PyObject *square(PyObject *self, PyObject *argument) {
  long value = PyLong_AsLong(argument);
  return PyLong_FromLong(value * value);
}

static int calls;

// How often it was called: a block must not find the memory of an earlier one.
static PyObject *count(PyObject *self, PyObject *none) {
  return PyLong_FromLong(++calls);
}

// Calls a function of JavaScript that is open to code.
static PyObject *has_clock(PyObject *self, PyObject *none) {
  return PyLong_FromLong(emscripten_date_now() > 0);
}

// Calls one that would run JavaScript.
static PyObject *escape(PyObject *self, PyObject *none) {
  return PyLong_FromLong(emscripten_run_script_int("process.pid"));
}

static PyMethodDef methods[] = {
    {"square", square, ONE_ARGUMENT, 0},
    {"count", count, NO_ARGUMENTS, 0},
    {"has_clock", has_clock, NO_ARGUMENTS, 0},
    {"escape", escape, NO_ARGUMENTS, 0},
    {0, 0, 0, 0},
};

static PyModuleDef definition = {.reference_count = 1, .name = "native", .size = -1, .methods = methods};

__attribute__((visibility("default"))) PyObject *PyInit_native(void) {
  return PyModule_Create2(&definition, API_VERSION);
}
