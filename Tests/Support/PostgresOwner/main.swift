import EmbeddedPostgres
import Glibc
import Postgres

// Owns the server of a data folder for tests that kill its owner: says that it is ready, ends when its input ends.
var configuration = EmbeddedPostgres.Configuration(dataFolder: CommandLine.arguments[1])
configuration.isDurable = false
let server = try EmbeddedPostgres.start(configuration)
print(server.isOwner ? "owner" : "attached", server.process ?? 0)
fflush(nil)
while readLine() != nil {}
server.stop()
