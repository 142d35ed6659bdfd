#pragma once

/// The environment variable with the skew of the wall clock in seconds. The library is preloaded into a program
/// (ld.so(8), LD_PRELOAD).
#define CLOCKSKEW_VARIABLE "TAKE5_CLOCK_SKEW"
