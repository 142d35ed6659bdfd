import EmbeddedPostgres
import Glibc
import Postgres
import PostgresTesting

// Owns the server of a data folder, for tests that kill the owner: prints a line when it is ready, ends with its input.
var configuration = EmbeddedPostgres.Configuration(dataFolder: CommandLine.arguments[1])
configuration.isDurable = false
let server = try EmbeddedPostgres.start(configuration)
print(server.isOwner ? "owner" : "attached", server.process ?? 0)
fflush(nil)
// Ends: with the input, which a killed test closes too.
while readLine() != nil {}
server.stop()
