#!/usr/bin/perl
# report.pl SECONDS: reads what tests print, prints a line for each suite as it ends, and at the end what was skipped, what failed and how
# to run it again. SECONDS is what the build took. Fails if a test failed or a process of tests did not end well.
use strict;
use warnings;
use utf8;
binmode $_, ":utf8" for *STDIN, *STDOUT;
$| = 1;
my ($built) = @ARGV;
my $begin = time;
my ($passed, $failed, $unwell) = (0, 0, 0);
my (%skipped, %running, %places, @issues);

while (my $line = <STDIN>) {
  if ($line =~ /^◇ Test (?!run started|case )(.*) started\.$/) {
    $running{$1} = 1;
  } elsif ($line =~ /^([✔✘]) Test (?!run with|case )(.*?)(?: with \d+ test cases?)? (?:passed|failed) after /) {
    delete $running{$2};
    $1 eq '✔' ? $passed++ : $failed++;
  } elsif ($line =~ /^➜ (?:Test|Suite) .* skipped(?:: "(.*)")?/) {
    $skipped{$1 // 'without a reason'}++;
  } elsif ($line =~ /^✘ .* recorded an issue.* at (\w+)\.swift:/) {
    $places{$1} = 1;
    push @issues, $line;
    print $line;
  } elsif ($line =~ /^↳ (?!Testing Library|Target Platform)/ && @issues) {
    $issues[-1] .= "  $line" if length $issues[-1] < 4000;
  } elsif ($line =~ /^[✔✘] (Suite |Test run with )/) {
    %running = () if $1 ne 'Suite ';
    print $line;
  } elsif ($line =~ /^== status (\d+)$/) {
    # EX_UNAVAILABLE: the build has no such tests.
    unless ($1 == 0 || $1 == 69) {
      $unwell++;
      push @issues, "a process of tests ended with status $1, before the end of: " . join('; ', sort keys %running) . "\n" if %running;
    }
    %running = ();
  } elsif ($line =~ /Fatal error|: error: /) {
    push @issues, $line;
    print $line;
  }
}

printf "\nbuilt in %d s, ran in %d s\n", $built, time - $begin;
printf "%5d skipped: %s\n", $skipped{$_}, $_ for sort keys %skipped;
print "\nwhat failed:\n", @issues if @issues;
my @again = map { -d "Tests/$_" || `grep -lrE '^(struct|final class|actor|enum) $_\\b' Tests` ? $_ : () } sort keys %places;
print "\nrun it again: make test ONLY='@again'\n" if @again;
print "\n$passed passed, $failed failed\n";
exit($unwell || $failed || !$passed ? 1 : 0);
