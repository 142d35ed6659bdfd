#if canImport(SwiftUI)
  import MomentModel
  import SwiftUI
  import Take5Client

  /// The moments of the user and of friends.
  struct FeedView: View {
    let app: AppModel
    @State private var rows: [Row<Post>] = []

    var body: some View {
      NavigationStack {
        List(rows) { row in
          NavigationLink(row.caption ?? "Moment") { MomentView(moment: DetailsModel(app: app, id: row.id)) }
        }
      }
      .task(id: app.changes) {
        await app.attempt { rows = try await app.client.posts.feed(include: [.author, .mine]).page().rows }
      }
    }
  }

  /// A moment with its comments.
  struct MomentView: View {
    let moment: DetailsModel
    @State private var text = ""

    var body: some View {
      List {
        Text(moment.row?.authorProfile?.userName ?? "")
        Button("Swap the cameras") { moment.swap() }
        Button(moment.row?.isLiked == true ? "Unlike" : "Like") { Task { await moment.toggleLike() } }
        ForEach(moment.comments) { row in Text("\(row.authorProfile?.userName ?? ""): \(row.text)") }
        TextField("Comment", text: $text).onSubmit {
          Task {
            await moment.comment(text)
            text = ""
          }
        }
      }
      .task { await moment.load() }
    }
  }

  /// A month of the user's moments.
  struct MonthView: View {
    @State private var month: CalendarModel

    init(app: AppModel) { _month = State(initialValue: CalendarModel(app: app)) }

    var body: some View {
      List(month.days, id: \.date) { day in Text("\(day.date): \(day.posts)") }
        .task {
          let today = Foundation.Calendar.current.dateComponents([.year, .month], from: .now)
          await month.load(year: today.year ?? 1, month: today.month ?? 1)
        }
    }
  }
#endif
