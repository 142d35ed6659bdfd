import FoundationEssentials
internal import Model

/// What the store holds, by role and age, and what of it is replaced, rejected or damaged; as JSON.
struct StoreUsage: Encodable, Sendable {
  /// A number of assets and their bytes. Assets with the same content have one blob.
  struct Sum: Sendable, Hashable, Encodable {
    var assets = 0
    var bytes: Int64 = 0

    static func += (sum: inout Sum, other: Sum) {
      sum.assets += other.assets
      sum.bytes += other.bytes
    }
  }

  /// The age of an asset: up to a day, and more than the age before up to a week, a month, or more.
  enum Age: String, CaseIterable {
    case day, week, month, older
  }

  /// The files, each once, however many assets have its content.
  struct Blobs: NilEncodable, Sendable {
    struct OfAge: Encodable, Sendable {
      let age: String
      var count = 0
      var bytes: Int64 = 0
    }

    private(set) var count = 0
    private(set) var bytes: Int64 = 0
    /// When the oldest one came; nil without any.
    private(set) var firstAt: Date?
    private(set) var ages = Age.allCases.map { OfAge(age: $0.rawValue) }

    mutating func add(count: Int, bytes: Int64, age: Age, firstAt: Date) {
      self.count += count
      self.bytes += bytes
      self.firstAt = min(self.firstAt ?? firstAt, firstAt)
      for index in ages.indices where ages[index].age == age.rawValue {
        ages[index].count += count
        ages[index].bytes += bytes
      }
    }
  }

  /// A blob whose file is missing or damaged.
  struct Damaged: NilEncodable, Sendable {
    let hash: String
    let kind: String
    let foundAt: Date
    /// How often it was to be made again.
    let attempts: Int
    /// Why it cannot be made again.
    let error: String?
  }

  private var roles: [String: Sum] = [:]
  private var ages: [Age: Sum] = [:]
  /// Of sets that were replaced and are still readable.
  private var retired = Sum()
  /// Of the sources of rejected media.
  private var rejected = Sum()
  var blobs = Blobs()
  var damaged: [Damaged] = []

  mutating func add(_ sum: Sum, role: String, age: Age, isRetired: Bool, isRejected: Bool) {
    roles[role, default: Sum()] += sum
    ages[age, default: Sum()] += sum
    if isRetired { retired += sum }
    if isRejected { rejected += sum }
  }

  private enum CodingKeys: CodingKey { case roles, ages, blobs, retired, rejected, damaged }

  private struct OfRole: Encodable {
    let role: String
    let assets: Int
    let bytes: Int64
  }

  private struct OfAge: Encodable {
    let age: String
    let assets: Int
    let bytes: Int64
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let roles = roles.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
    try container.encode(
      roles.map { OfRole(role: $0.key, assets: $0.value.assets, bytes: $0.value.bytes) }, forKey: .roles)
    try container.encode(
      Age.allCases.map { age in
        let sum = ages[age] ?? Sum()
        return OfAge(age: age.rawValue, assets: sum.assets, bytes: sum.bytes)
      }, forKey: .ages)
    try container.encode(blobs, forKey: .blobs)
    try container.encode(retired, forKey: .retired)
    try container.encode(rejected, forKey: .rejected)
    try container.encode(damaged, forKey: .damaged)
  }
}
