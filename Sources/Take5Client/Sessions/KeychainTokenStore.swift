#if canImport(Security)
  import Foundation
  import Security

  /// A session in the keychain of an Apple platform, on this device alone, readable after the first unlock: the system wakes an app
  /// for its uploads also while the device is locked.
  ///
  /// ```swift
  /// let client = Take5Client(url: url, tokens: KeychainTokenStore())
  /// ```
  public struct KeychainTokenStore: TokenStore {
    private let service: String
    private let group: String?

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - service: The name of the item, for apps that have several services.
    ///   - group: The keychain access group that an app shares with its extensions.
    public init(service: String = "take5", group: String? = nil) { (self.service, self.group) = (service, group) }

    private var item: [CFString: Any] {
      var item: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: "session",
      ]
      if let group { item[kSecAttrAccessGroup] = group }
      return item
    }

    /// The session that is stored, or nil.
    public func read() throws -> Session? {
      var query = item
      query[kSecReturnData] = true
      query[kSecMatchLimit] = kSecMatchLimitOne
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw KeychainError(status: status) }
      return try JSONDecoder().decode(Session.self, from: data)
    }

    /// Stores a session in place of the one before.
    public func write(_ session: Session) throws {
      let values: [CFString: Any] = [
        kSecValueData: try JSONEncoder().encode(session),
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    /// Removes the session.
    public func remove() throws {
      let status = SecItemDelete(item as CFDictionary)
      guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
    }
  }

  /// An error of the keychain, with its status (`SecBase.h`).
  ///
  /// ```swift
  /// if (error as? KeychainError)?.status == errSecInteractionNotAllowed { waitForUnlock() }
  /// ```
  public struct KeychainError: Error, Sendable {
    /// The status, an `OSStatus`.
    public let status: Int32
  }
#endif
