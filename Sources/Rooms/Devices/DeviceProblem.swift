import HTTPServer
import Kit

/// The kinds of problems that only the routes of devices have.
enum DeviceProblem: String, ProblemTable {
  case deviceNotFound = "device_not_found"
  case vapidKeyNotFound = "vapid_key_not_found"

  var row: (status: Status, title: String, remedy: String) {
    switch self {
    case .deviceNotFound:
      (.notFound, "Device not found", "List the devices of the user: the device may belong to another user now.")
    case .vapidKeyNotFound:
      (.notFound, "VAPID key not found", "Start a worker with --web-push.")
    }
  }
}
