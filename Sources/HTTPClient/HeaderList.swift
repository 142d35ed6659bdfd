internal import CCurl

/// Header fields that are sent beside libcurl's own (curl_slist_append(3)).
struct HeaderList: ~Copyable {
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  mutating func append(_ name: String, _ value: String) {
    guard let first = curl_slist_append(first, "\(name): \(value)") else { fatalError("no memory for a header") }
    self.first = first
  }

  deinit { curl_slist_free_all(first) }
}
