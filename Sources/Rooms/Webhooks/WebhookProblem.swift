import HTTPServer
import Kit

/// The kinds of problems that only the routes of webhooks have.
enum WebhookProblem: String, ProblemTable {
  case webhookNotFound = "webhook_not_found"
  case webhookDisabled = "webhook_disabled"
  case deliveryNotFound = "delivery_not_found"

  var row: (status: Status, title: String, remedy: String) {
    switch self {
    case .webhookNotFound:
      (.notFound, "Webhook not found", "List the webhooks: it may have been deleted.")
    case .webhookDisabled:
      (.conflict, "The webhook is disabled", "Enable it: change its `state` to `enabled`.")
    case .deliveryNotFound:
      (
        .notFound, "Delivery not found",
        "List the deliveries: each is there for seven days, and one with a code is not sent again once it has ended."
      )
    }
  }
}
