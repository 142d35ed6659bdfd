#pragma once

/// The text of a file that is a part of the program, with a zero at its end.
///
/// The compiler copies it (C23, 6.10.4). An array in Swift would be parsed, number by number, and go through the optimiser.
struct __attribute__((swift_attr("@Sendable"))) embedded_text {
  const char *_Nonnull text;
};
