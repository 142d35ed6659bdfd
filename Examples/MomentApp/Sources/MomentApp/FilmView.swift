#if canImport(SwiftUI)
  import MomentModel
  import SwiftUI
  import Take5Client

  /// Films, and shows how far what was filmed is. The recorder of the app calls `film(front:back:caption:)` with its two files.
  struct FilmView: View {
    let film: FilmModel
    let window: DailyWindow?

    var body: some View {
      List {
        if let end = window?.closesAt, window?.isOpen == true {
          Text("Film now: the window closes \(end, style: .relative)")
        }
        ForEach(film.moments) { moment in
          VStack(alignment: .leading) {
            Text(moment.post?.caption ?? "Moment")
            if let refusal = moment.refusal {
              Text(refusal).foregroundStyle(.red)
            } else {
              ProgressView(value: moment.progress.fraction)
            }
          }
        }
      }
    }
  }
#endif
