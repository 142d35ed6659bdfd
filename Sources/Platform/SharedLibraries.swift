import Glibc

/// The shared libraries that a program opens at their first use instead of at its start.
///
/// FFmpeg's libraries depend on 130 others, which cost each process 25 ms and 28 MB, and libpq and libcurl on 30. The
/// programs are linked without them (`Package.swift`). The dynamic linker binds a function at its first call and then
/// finds it in the global scope, to which `open` adds the libraries (ld.so(8), dlopen(3)). Their headers and calls are the
/// same as if they were linked.
package enum SharedLibraries {
  /// Opens libraries by their SONAMEs; a missing library ends the program, as when it is linked.
  ///
  /// Call this before the first function of a library.
  package static func open(_ names: String...) {
    for name in names where dlopen(name, RTLD_LAZY | RTLD_GLOBAL) == nil {
      let message = dlerror().map { String(cString: $0) } ?? name
      // The message and the exit status of the dynamic linker for a library that is missing when a program starts.
      let line = "take5: error while loading shared libraries: \(message)\n"
      _ = write(2, line, line.utf8.count)
      _exit(127)
    }
  }

  /// Opens a library that a program can do without; false if it is not installed.
  package static func openIfInstalled(_ name: String) -> Bool { dlopen(name, RTLD_LAZY | RTLD_GLOBAL) != nil }
}
