// swift-tools-version: 6.2
import PackageDescription

// An app of daily moments: its model, which is tested on any platform, and its views for Apple's.
let package = Package(
  name: "MomentApp",
  platforms: [.iOS(.v17), .macOS(.v14)],
  products: [.library(name: "MomentApp", targets: ["MomentApp"])],
  dependencies: [.package(name: "take5", path: "../..")],
  targets: [
    .target(name: "MomentModel", dependencies: [.product(name: "Take5Client", package: "take5")]),
    .target(name: "MomentApp", dependencies: ["MomentModel"]),
    .testTarget(name: "MomentModelTests", dependencies: ["MomentModel"]),
  ],
  swiftLanguageModes: [.v6]
)
