package emf

import (
	"log/slog"
	"slices"
	"time"

	"surehook.example/surehook/internal/names"
)

// Set appends metrics to the log lines of one function.
type Set struct {
	Environment string // dimension of every metric; empty: no metrics, lines stay unchanged
}

// maxMetrics is the EMF limit of metrics per directive.
const maxMetrics = 100

// Append returns the log line with metrics, measured at now. An existing field with
// the name of a metric or a dimension, such as duration_ms or outcome, serves as the
// value: a number for a metric, text for a dimension, at the root of the line. Append
// adds the other fields. Of several metrics with one name, the first counts.
func (s Set) Append(line []slog.Attr, now time.Time, ms ...Metric) []slog.Attr {
	if s.Environment == "" {
		return line
	}
	own := len(line)
	line = append(slices.Clip(line), slog.Attr{}) // Clip protects the caller's array; the empty Attr reserves the position of _aws
	var plain []definition
	var directives []directive
	for i, m := range ms {
		if m.name == "" || slices.ContainsFunc(ms[:i], func(other Metric) bool { return other.name == m.name }) {
			continue
		}
		line = add(line, m.attr())
		if d := []definition{{m.name, m.unit}}; m.by.name != "" {
			line = add(line, m.by.attr())
			directives = append(directives, newDirective(d, m.by))
		} else {
			plain = append(plain, d...)
		}
	}
	for some := range slices.Chunk(plain, maxMetrics) {
		directives = append(directives, newDirective(some, Dimension{}))
	}
	if len(directives) == 0 {
		return line[:own]
	}
	line = add(line, slog.String(names.MetricEnvironment, s.Environment))
	line[own] = slog.Any("_aws", metadata{now.UnixMilli(), directives}) //nolint:sloglint // CloudWatch named it
	return line
}

// add adds a field to the line, unless the line has a field with the same key.
func add(line []slog.Attr, a slog.Attr) []slog.Attr {
	if slices.ContainsFunc(line, func(other slog.Attr) bool { return other.Key == a.Key }) {
		return line
	}
	return append(line, a)
}

// The member _aws of a line, with the names of the Embedded Metric Format.
type (
	metadata struct {
		Timestamp         int64 // milliseconds since 1970
		CloudWatchMetrics []directive
	}
	directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	definition struct {
		Name string
		Unit unit
	}
)

// newDirective returns the directive for the metrics by the environment, and by the environment with
// the other dimension unless that is empty.
func newDirective(metrics []definition, by Dimension) directive {
	sets := [][]string{{names.MetricEnvironment}}
	if by.name != "" {
		sets = append(sets, []string{names.MetricEnvironment, by.name})
	}
	return directive{Namespace: names.MetricNamespace, Dimensions: sets, Metrics: metrics}
}
