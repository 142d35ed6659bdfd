// swift-tools-version: 6.2
import PackageDescription

// A package that depends on the product Take5Client and on nothing else, as that of an app does.
let package = Package(
  name: "phone",
  platforms: [.iOS(.v16), .macOS(.v13)],
  dependencies: [.package(name: "take5", path: "../../..")],
  targets: [
    .executableTarget(
      name: "phone", dependencies: [.product(name: "Take5Client", package: "take5")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
