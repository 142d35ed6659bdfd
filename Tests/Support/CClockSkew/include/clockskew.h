#pragma once

/// The environment variable with the skew of the wall clock in seconds. The library is preloaded into a program
/// (ld.so(8), LD_PRELOAD).
#define CLOCKSKEW_VARIABLE "TAKE5_CLOCK_SKEW"

/// The environment variable with the path of a file that has the skew, as a `long` in the order of the machine: a clock that steps when
/// the file is written. It takes the place of the other variable.
#define CLOCKSKEW_FILE_VARIABLE "TAKE5_CLOCK_SKEW_FILE"
