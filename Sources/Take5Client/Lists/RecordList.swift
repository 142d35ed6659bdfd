/// A list of the service as a sequence, which reads a page when it is needed. Errors are `Take5Error`.
///
/// ```swift
/// for try await row in client.posts.comments(on: post.id, include: [.author]) { show(row.text) }
/// let first = try await client.posts.feed(include: [.author]).page()
/// ```
public struct RecordList<Record: Sendable & Decodable>: AsyncSequence, Sendable {
  /// A page of a list.
  public struct Page: Sendable {
    /// The records.
    public var rows: [Row<Record>]
    /// The position of the next page, or nil after the last one.
    public var next: String?
  }

  /// Reads a list page by page.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let list: RecordList
    private var rows: [Row<Record>] = []
    private var cursor: String?
    private var isAtEnd = false

    init(list: RecordList) { self.list = list }

    /// The next record, or nil after the last one.
    public mutating func next() async throws -> Row<Record>? {
      while rows.isEmpty {
        if isAtEnd { return nil }
        let page = try await list.page(after: cursor)
        rows = page.rows.reversed()
        (cursor, isAtEnd) = (page.next, page.next == nil)
      }
      return rows.popLast()
    }
  }

  private struct Body: Decodable {
    var items: [Record]
    var next: String?
    var included: Included?
  }

  let connection: Connection
  /// The request for the page at a cursor.
  let request: @Sendable (_ cursor: String?) -> Request

  /// Begins at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(list: self) }

  /// Reads one page.
  ///
  /// - Parameter cursor: The `next` of the page before, or nil for the first one.
  public func page(after cursor: String? = nil) async throws(Take5Error) -> Page {
    let body: Body = try await connection.value(request(cursor))
    let included = body.included ?? Included()
    return Page(rows: body.items.map { Row(record: $0, included: included) }, next: body.next)
  }
}

extension RecordList {
  /// A list by GET.
  init(
    _ connection: Connection, _ path: String, _ query: [(name: String, value: String)] = [],
    include: Set<Inclusion> = []
  ) {
    self.connection = connection
    request = { cursor in
      var all = query
      if !include.isEmpty { all.append(("include", include.map(\.rawValue).sorted().joined(separator: ","))) }
      if let cursor { all.append(("cursor", cursor)) }
      return Request("GET", path, query: all)
    }
  }
}
