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
# The failures before the process that runs.
my $before = 0;
my (%skipped, %places, @issues);

# Counts a failure that Swift Testing does not print.
sub fails {
  my ($issue) = @_;
  $failed++;
  push @issues, "error: $issue\n";
  print "error: $issue\n";
}

# Whether the lines that follow an issue are of one that counts, not of a known one.
my $isDetailed = 0;

while (my $line = <STDIN>) {
  # What a test and its children print may lack the end of its line.
  $line =~ s/^(?!↳).*?(?=[✔✘━➜] (?:Test|Suite) )//;
  $isDetailed = 0 unless $line =~ /^↳/;
  if ($line =~ /^([✔✘━]) Test (?!run with|case ).* (?:passed|failed) after /) {
    $1 eq '✘' ? $failed++ : $passed++;
  } elsif ($line =~ /^➜ (?:Test|Suite) .* skipped(?:: "(.*)")?/) {
    $skipped{$1 // 'without a reason'}++;
  } elsif ($line =~ /^✘ .* recorded an issue.* at (\w+)\.swift:/) {
    $places{$1} = 1;
    $isDetailed = 1;
    push @issues, $line;
    print $line;
  } elsif ($line =~ /^↳ (?!Testing Library|Target Platform)/ && $isDetailed) {
    $issues[-1] .= "  $line" if length $issues[-1] < 4000;
  } elsif ($line =~ /^[✔✘━] (?:Suite |Test run with )/) {
    print $line;
  } elsif ($line =~ /^== not ended: (\w+\.(\w+).*)$/) {
    $places{$2} = 1;
    fails("this test started and did not end: $1");
  } elsif ($line =~ /^== silent for (\d+) s$/) {
    push @issues, "no test started or ended for $1 s, and the process of tests was killed\n";
    print $issues[-1];
  } elsif ($line =~ /^== left: (.*)$/) {
    fails("a test left a process behind, which was killed: $1");
  } elsif ($line =~ /^== ((?:log|cannot be killed:) .*)$/) {
    fails($1);
  } elsif ($line =~ /^== status (\d+), (.*)$/) {
    my $isWhole = $2 eq 'after its last test';
    # EX_UNAVAILABLE: the build has no such tests.
    unless ($1 == 0 && $isWhole || $1 == 69) {
      $unwell++;
      fails("a process of tests ended with status $1, $2") if $failed == $before || $isWhole && $1 > 1;
    }
    $before = $failed;
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
