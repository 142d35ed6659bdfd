package import Model

/// A job to be put into a queue.
package struct NewJob: Sendable {
  package var publicID: PublicID
  package var queue: String
  package var kind: String
  /// In seconds from now.
  package var delay: Double
  /// 0 to 9; each step later in the alphabet of priorities is 30 seconds of head start lost.
  package var priority: Int
  package var maxAttempts: Int
  /// The most time of one attempt.
  package var deadlineSeconds: Int
  /// At most one live job has this key; nil: any number.
  package var uniqueKey: [UInt8]?
  package var author: String?
  /// The hash of the definition that it is to be done by.
  package var definition: [UInt8]?
  /// The id of the request that asked for it.
  package var request: String?
  /// Whose turn it takes; nil: it comes when it comes.
  package var share: JobShare?
  /// How many of its like may be at work; nil: any number.
  package var limit: JobLimit?
  /// A JSON object.
  package var arguments: [UInt8]

  package init(
    publicID: PublicID, queue: String, kind: String, delay: Double = 0, priority: Int = 5, maxAttempts: Int = 5,
    deadlineSeconds: Int, uniqueKey: [UInt8]? = nil, author: String? = nil, definition: [UInt8]? = nil,
    request: String? = nil, share: JobShare? = nil, limit: JobLimit? = nil, arguments: [UInt8]
  ) {
    self.publicID = publicID
    self.queue = queue
    self.kind = kind
    self.delay = delay
    self.priority = min(max(priority, 0), 9)
    self.maxAttempts = maxAttempts
    self.deadlineSeconds = deadlineSeconds
    self.uniqueKey = uniqueKey
    self.author = author
    self.definition = definition
    self.request = request
    self.share = share
    self.limit = limit
    self.arguments = arguments
  }
}
