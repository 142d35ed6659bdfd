#pragma once

/// How many seconds the process's clock is off: the variable that the library reads, preloaded into a program (ld.so(8),
/// LD_PRELOAD).
#define CLOCKSKEW_VARIABLE "TAKE5_CLOCK_SKEW"
