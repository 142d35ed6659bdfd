/// The family of a container, told by its brand.
package enum ContainerName: String, Codable, Sendable {
  case mov
  case mp4
  case threeGP = "3gp"
}
