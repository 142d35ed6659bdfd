package import Model

/// What the media process is asked; the descriptors travel beside it (unix(7), SCM_RIGHTS).
package enum MediaRequest: Codable, Sendable, Hashable {
  /// Read the headers of one input; its descriptor comes with the message.
  case probe(input: InputName, limits: Limits)
  /// Carry out a plan; with the message come the inputs' descriptors and then the outputs', each in the order given.
  case run(plan: Plan, mode: ExecutionMode, inputs: [InputName], outputs: [Role])
}
