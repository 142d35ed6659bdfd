#if canImport(SwiftUI)
  import MomentModel
  import SwiftUI
  import Take5Client

  /// The app; that of a project calls it from its own `@main`.
  public struct MomentRootView: View {
    @State private var app: AppModel

    /// Makes the root of the app.
    public init(client: Take5Client) { _app = State(initialValue: AppModel(client: client)) }

    /// The screens of a stranger, or those of the user.
    public var body: some View {
      Group {
        if app.user == nil {
          SignInView(app: app)
        } else {
          TabView {
            FilmView(film: FilmModel(app: app), window: app.window).tabItem { Label("Film", systemImage: "camera") }
            MonthView(app: app).tabItem { Label("Calendar", systemImage: "calendar") }
            FeedView(app: app).tabItem { Label("Moments", systemImage: "square.stack") }
          }
        }
      }
      .safeAreaInset(edge: .top) { if let banner = app.banner { Text(banner).font(.footnote).padding() } }
      .task { await app.start() }
    }
  }

  struct SignInView: View {
    let app: AppModel
    @State private var name = ""
    @State private var password = ""

    var body: some View {
      Form {
        TextField("User name", text: $name)
        SecureField("Password", text: $password)
        Button("Sign in") { Task { await app.signIn(name: name, password: password) } }
        Button("Register") { Task { await app.register(name: name, password: password) } }
      }
    }
  }
#endif
