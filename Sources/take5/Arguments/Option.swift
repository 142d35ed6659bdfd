/// One option of a verb.
struct Option: Sendable, Hashable {
  /// With its dashes, `--data`.
  let name: String
  /// What its value is called in the help, `DIR`; nil: a switch without a value.
  let placeholder: String?
  /// The environment variable that stands in for it, `TAKE5_DATA`.
  let variable: String?
  /// The value when neither is given, as the help tells it.
  let fallback: String?
  let help: String
  /// A second, short spelling, `-o`.
  let short: String?

  init(
    _ name: String, _ placeholder: String? = nil, variable: String? = nil, default fallback: String? = nil,
    short: String? = nil, help: String
  ) {
    self.name = name
    self.placeholder = placeholder
    self.variable = variable
    self.fallback = fallback
    self.short = short
    self.help = help
  }
}
