package metric

import (
	"log/slog"
	"strconv"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// Metric is one value of a metric. The zero Metric is none.
type Metric struct {
	name  string
	unit  unit
	value int64
	by    []Dimension
}

// unit is a unit of CloudWatch.
type unit string

const (
	count        unit = "Count"
	milliseconds unit = "Milliseconds"
	seconds      unit = "Seconds"
)

// Count is so many of something that happened. None is not worth a metric: the
// zero Metric, as with an n below 0.
func Count(name string, n int) Metric {
	if n <= 0 {
		return Metric{}
	}
	return Metric{name: name, unit: count, value: int64(n)}
}

// Gauge is how many there are of something now, none included.
func Gauge(name string, n int) Metric { return Metric{name: name, unit: count, value: int64(n)} }

// Milliseconds is how long something took, in whole milliseconds. Clocks of two
// machines can make it less than nothing; it is nothing then.
func Milliseconds(name string, d time.Duration) Metric {
	return Metric{name: name, unit: milliseconds, value: max(d, 0).Milliseconds()}
}

// Seconds is how old something is, in whole seconds; nothing when that is less than nothing.
func Seconds(name string, d time.Duration) Metric {
	return Metric{name: name, unit: seconds, value: int64(max(d, 0) / time.Second)}
}

// By returns the metric told apart by each of the dimensions as well: once by
// all there is, the environment, and once by the environment and each of them.
// They are not combined with each other, and a line has one of a kind for all its metrics.
func (m Metric) By(ds ...Dimension) Metric {
	m.by = ds
	return m
}

// Dimension is what values of a metric are told apart by. Outcome and Number
// are all there are. The zero Dimension is none.
type Dimension struct{ name, value string }

// Outcome is the class of an attempt.
func Outcome(c hook.Class) Dimension { return Dimension{names.MetricOutcome, c.String()} }

// Number is the number of an attempt, 1 to hook.MaxAttempts; any other is the nearest.
func Number(n int) Dimension {
	return Dimension{names.MetricNumber, strconv.Itoa(min(max(n, 1), hook.MaxAttempts))}
}

// attr returns the member of the line that holds the value.
func (m Metric) attr() slog.Attr { return slog.Int64(m.name, m.value) }

func (d Dimension) attr() slog.Attr { return slog.String(d.name, d.value) }
