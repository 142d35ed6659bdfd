#include "CLazyLibrary.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noreturn)) static void fail(const struct lazy_library *library) {
  // The message and the exit status of the dynamic linker for a library that is missing when a program starts.
  fprintf(stderr, "take5: error while loading shared libraries: %s: %s\n", library->file, dlerror());
  _exit(127);
}

// Two threads may resolve a function at the same time: both get the same address, and dlopen loads a library only once.
__attribute__((used, visibility("hidden"))) void *lazy_library_resolve(struct lazy_function *function) {
  struct lazy_library *library = function->library;
  void *handle = atomic_load_explicit(&library->handle, memory_order_acquire);
  if (!handle) {
    handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail(library);
    atomic_store_explicit(&library->handle, handle, memory_order_release);
  }
  void *address = dlsym(handle, function->name);
  if (!address) fail(library);
  atomic_store_explicit(&function->address, address, memory_order_release);
  return address;
}

// Saves every register that may hold an argument, resolves the function, and jumps to it as if the caller had called
// it.
#if defined(__x86_64__)
__asm__(
    ".pushsection .text\n"
    ".globl lazy_library_load\n.hidden lazy_library_load\n.type lazy_library_load, @function\n"
    "lazy_library_load:\n"
    "pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\npushq %rax\n"
    "subq $128, %rsp\n"
    "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n"
    "movups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\nmovups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"
    "movq %r11, %rdi\n"
    "call lazy_library_resolve\n"
    "movq %rax, %r11\n"
    "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"
    "movups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\nmovups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"
    "addq $128, %rsp\n"
    "popq %rax\npopq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\n"
    "jmp *%r11\n"
    ".popsection\n");
#elif defined(__aarch64__)
__asm__(
    ".pushsection .text\n"
    ".globl lazy_library_load\n.hidden lazy_library_load\n.type lazy_library_load, %function\n"
    "lazy_library_load:\n"
    "stp x29, x30, [sp, #-208]!\n"
    "mov x29, sp\n"
    "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\n"
    "stp q0, q1, [sp, #80]\nstp q2, q3, [sp, #112]\nstp q4, q5, [sp, #144]\nstp q6, q7, [sp, #176]\n"
    "mov x0, x17\n"
    "bl lazy_library_resolve\n"
    "mov x16, x0\n"
    "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\n"
    "ldp q0, q1, [sp, #80]\nldp q2, q3, [sp, #112]\nldp q4, q5, [sp, #144]\nldp q6, q7, [sp, #176]\n"
    "ldp x29, x30, [sp], #208\n"
    "br x16\n"
    ".popsection\n");
#endif
