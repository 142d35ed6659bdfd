#pragma once

// A shared library that is loaded by the first call into it.
//
// FFmpeg's libraries depend on 130 others, which cost 25 ms and 28 MB in every process that is linked against them. A
// process that opens no clip does not load them. LAZY_FUNCTION defines a function as one jump: until the first call to
// the loader, afterwards to the function of the library. Callers use the library's own headers as if it were linked; a
// call to a function without LAZY_FUNCTION fails to link.

#include <stdatomic.h>

struct lazy_library {
  const char *file;  // the SONAME, such as libavutil.so.57
  _Atomic(void *) handle;
};

struct lazy_function {
  void *_Atomic address;  // first, because the jump reads it
  struct lazy_library *library;
  const char *name;
};

#define LAZY_LIBRARY(identifier, file_name) static struct lazy_library identifier = {.file = (file_name)}

#define LAZY_FUNCTION(identifier, function)                                                               \
  extern char lazy_load_##function[] __attribute__((visibility("hidden")));                               \
  __attribute__((used, visibility("hidden"))) struct lazy_function lazy_##function = {                    \
      .address = lazy_load_##function, .library = &identifier, .name = #function};                        \
  __asm__(".pushsection .text\n"                                                                          \
          ".globl " #function "\n.hidden " #function "\n.type " #function ", %function\n" #function ":\n" \
          LAZY_JUMP(#function)                                                                            \
          ".globl lazy_load_" #function "\n.hidden lazy_load_" #function "\nlazy_load_" #function ":\n"   \
          LAZY_LOAD(#function)                                                                            \
          ".popsection\n")

// Both pass the function's record in a register that holds no argument: r11 (System V ABI, 3.2.3), x17 (AAPCS64,
// 6.1.1).
#if defined(__x86_64__)
#define LAZY_JUMP(name) "jmp *lazy_" name "(%rip)\n"
#define LAZY_LOAD(name) "leaq lazy_" name "(%rip), %r11\njmp lazy_library_load\n"
#elif defined(__aarch64__)
#define LAZY_JUMP(name) "adrp x16, lazy_" name "\nldr x16, [x16, :lo12:lazy_" name "]\nbr x16\n"
#define LAZY_LOAD(name) "adrp x17, lazy_" name "\nadd x17, x17, :lo12:lazy_" name "\nb lazy_library_load\n"
#else
#error "lazy libraries are written for x86-64 and arm64"
#endif
