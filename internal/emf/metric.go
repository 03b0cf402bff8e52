package emf

import (
	"log/slog"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Metric is a name with one or more values. The zero Metric is empty.
type Metric struct {
	name   string
	unit   unit
	values []int64
	by     Dimension
}

// unit is a CloudWatch unit.
type unit string

const (
	count        unit = "Count"
	milliseconds unit = "Milliseconds"
)

// Count returns a metric of n occurrences. For n below 1, Count returns the zero
// Metric, because an absent count costs nothing.
func Count(name string, n int) Metric {
	if n <= 0 {
		return Metric{}
	}
	return Metric{name: name, unit: count, values: []int64{int64(n)}}
}

// Gauge returns a metric of the current number n, including 0.
func Gauge(name string, n int) Metric {
	return Metric{name: name, unit: count, values: []int64{int64(n)}}
}

// maxValues is the EMF limit of values per metric and line.
const maxValues = 100

// Milliseconds returns a metric of the durations, rounded down to whole milliseconds. It keeps the
// first 100 durations. Without durations, it returns the zero Metric. A negative duration, which
// the clocks of two machines can give, counts as 0.
func Milliseconds(name string, ds ...time.Duration) Metric {
	if len(ds) == 0 {
		return Metric{}
	}
	m := Metric{name: name, unit: milliseconds}
	for _, d := range ds[:min(len(ds), maxValues)] {
		m.values = append(m.values, max(d, 0).Milliseconds())
	}
	return m
}

// By returns the metric with the dimension d, in place of that of an earlier call. CloudWatch then
// records the metric once for the environment alone, and once for the environment with the
// dimension. All metrics of a line share one value per dimension.
func (m Metric) By(d Dimension) Metric {
	m.by = d
	return m
}

// Dimension is a dimension of a metric with a value, from Outcome, Queue, Resource or Region.
// The zero Dimension is empty.
type Dimension struct{ name, value string }

// Outcome returns the dimension for the class of an attempt.
func Outcome(c hook.Class) Dimension { return Dimension{names.MetricOutcome, c.String()} }

// Queue returns the dimension for the name of a queue.
func Queue(name string) Dimension { return Dimension{names.MetricQueue, name} }

// Resource returns the dimension for a kind of resource in AWS.
func Resource(kind string) Dimension { return Dimension{names.MetricResource, kind} }

// Region returns the dimension for the region of a sender. For the deployment's own region, an empty
// name, Region returns the zero Dimension.
func Region(name string) Dimension {
	if name == "" {
		return Dimension{}
	}
	return Dimension{names.MetricRegion, name}
}

// attr returns the field of the line with the values: a number, or an array of several.
func (m Metric) attr() slog.Attr {
	if len(m.values) == 1 {
		return slog.Int64(m.name, m.values[0])
	}
	return slog.Any(m.name, m.values)
}

func (d Dimension) attr() slog.Attr { return slog.String(d.name, d.value) }
