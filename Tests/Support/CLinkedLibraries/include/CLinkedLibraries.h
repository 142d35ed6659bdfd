#pragma once

// Links the libraries that take5 and take5-media open at their first use (Sources/Platform/SharedLibraries.swift) into
// programs that call them at any time.
