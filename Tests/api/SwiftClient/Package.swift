// swift-tools-version: 6.2
import PackageDescription

// A program that uses the client generated into the folder TAKE5_CLIENT.
let package = Package(
  name: "SwiftClient",
  dependencies: [.package(name: "Take5Client", path: Context.environment["TAKE5_CLIENT"] ?? "")],
  targets: [
    .executableTarget(name: "SwiftClient", dependencies: [.product(name: "Take5Client", package: "Take5Client")])
  ])
