package import Crypto

/// A blob store that can tell all that it holds, for those who look whether it is whole. All calls block.
package protocol InspectableBlobStore: BlobStore {
  /// In how many parts it tells what it holds, each small enough to lie in memory.
  var parts: Int { get }

  /// What lies in one part, from 0 on.
  func holdings(inPart part: Int) throws(BlobError) -> BlobHoldings

  /// What died before it was published, and is nobody's any more.
  func leftovers() throws(BlobError) -> [StoredFile]

  /// Removes what `leftovers` tells; what it was.
  @discardableResult
  func removeLeftovers() throws(BlobError) -> [StoredFile]

  /// Where a blob lies, for people who look for it.
  func location(of hash: SHA256Digest) -> String
}
