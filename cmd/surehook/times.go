package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// moments says what a flag for a time takes.
const moments = "a duration before now such as 1h or 2d, today, yesterday, a time of day such as 10:00, or a time such as 2026-11-01T00:00:00Z"

// moment is the value of a flag for a time.
type moment struct {
	now  func() time.Time
	step time.Duration // all times but those in RFC 3339 are rounded down to it
	at   time.Time     // zero without the flag
}

var _ pflag.Value = (*moment)(nil)

func (*moment) Type() string { return "time" }

// String returns the time as the API takes it; empty without the flag.
func (m *moment) String() string {
	if m.at.IsZero() {
		return ""
	}
	return m.at.UTC().Format(time.RFC3339Nano)
}

func (m *moment) Set(text string) error {
	at, err := parseMoment(text, m.now(), m.step)
	m.at = at
	return err
}

// moment adds a flag for a time. All times but those in RFC 3339 are rounded down to the step: to
// seconds, or to hours for statistics.
func (p *program) moment(flags *pflag.FlagSet, name, usage string, step time.Duration) *moment {
	m := &moment{now: func() time.Time { return p.Now() }, step: step}
	flags.Var(m, name, usage)
	return m
}

// parseMoment returns the time that text means at now, in the zone of now. A duration counts back
// from now, and its days have 24 hours. A time of day is today's, or yesterday's if today's is
// still to come.
func parseMoment(text string, now time.Time, step time.Duration) (time.Time, error) {
	day := func(back int, clock time.Time) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-back, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	switch text {
	case "today":
		return day(0, time.Time{}).Truncate(step), nil
	case "yesterday":
		return day(1, time.Time{}).Truncate(step), nil
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		at := day(0, clock)
		if at.After(now) {
			at = day(1, clock)
		}
		return at.Truncate(step), nil
	}
	if back, ok := parseBack(text); ok {
		return now.Add(-back).Truncate(step), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, usagef("say %s", moments)
	}
	return at, nil
}

// maxBack bounds a duration: no record is older.
const maxBack = 10 * 366 * 24 * time.Hour

// parseBack parses a duration of package time, or days such as 2d, or both, such as 1d12h. ok is
// false for negative durations, and for more than maxBack.
func parseBack(text string) (back time.Duration, ok bool) {
	if days, rest, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, false
		}
		if back, text = time.Duration(n)*24*time.Hour, rest; rest == "" {
			text = "0s"
		}
	}
	rest, err := time.ParseDuration(text)
	back += rest
	return back, err == nil && rest >= 0 && back <= maxBack
}

// relative returns the time as a person would say it at now, such as "3m ago" or "in 2h". The
// number is rounded down, and counts hours up to two days.
func relative(at, now time.Time) string {
	d := now.Sub(at)
	before, after := "", " ago"
	if d < 0 {
		d, before, after = -d, "in ", ""
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return before + strconv.Itoa(int(d/time.Second)) + "s" + after
	case d < time.Hour:
		return before + strconv.Itoa(int(d/time.Minute)) + "m" + after
	case d < 2*day:
		return before + strconv.Itoa(int(d/time.Hour)) + "h" + after
	case d < 365*day:
		return before + strconv.Itoa(int(d/day)) + "d" + after
	}
	return before + strconv.Itoa(int(d/(365*day))) + "y" + after
}
