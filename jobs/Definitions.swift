// Definitions
