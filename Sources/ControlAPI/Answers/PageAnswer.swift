internal import Model

/// A page of a list as clients read it.
struct PageAnswer<Item: Encodable>: Encodable {
  let items: [Item]
  /// What the parameter `cursor` takes for the next page; null: there is none.
  let next: String?

  init(items: [Item], next: String?) {
    self.items = items
    self.next = next
  }

  init<Element>(_ page: Page<Element>, _ item: (Element) -> Item) {
    items = page.items.map(item)
    next = page.next?.text
  }

  private enum CodingKeys: String, CodingKey { case items, next }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(items, forKey: .items)
    try container.encode(next, forKey: .next)
  }
}
