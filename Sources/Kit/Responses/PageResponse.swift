package import Model

/// The JSON of a page of a list.
package struct PageResponse<Item: Encodable>: NilEncodable {
  let items: [Item]
  /// The value of the parameter `cursor` for the next page; null on the last page.
  let next: String?

  package init(items: [Item], next: String?) {
    self.items = items
    self.next = next
  }

  package init<Element>(_ page: Page<Element>, _ item: (Element) -> Item) {
    items = page.items.map(item)
    next = page.next?.text
  }
}
