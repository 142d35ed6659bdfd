package import Model

/// What the media process is asked; the descriptors travel beside it (unix(7), SCM_RIGHTS).
package enum MediaRequest: Codable, Sendable, Hashable {
  /// Read the headers of inputs; their descriptors come with the message, in the order given.
  case probe(inputs: [InputName], limits: Limits)
  /// Carry out a plan; with the message come the inputs' descriptors and then the outputs', each in the order given.
  case run(plan: Plan, mode: ExecutionMode, inputs: [InputName], outputs: [Role])
  /// Make what a plan says of one photo; with the message come its descriptor and then the outputs', in the order given.
  case photo(plan: PhotoPlan, outputs: [Role])
}
