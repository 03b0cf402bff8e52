package picture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Values are measured values by metric. The zero value is not ready: use
// NewValues.
type Values struct {
	points   map[string][]point
	From, To time.Time // of the first and the last value
}

type point struct {
	at    time.Time
	value float64
}

// NewValues returns an empty Values.
func NewValues() *Values { return &Values{points: map[string][]point{}} }

// Add adds a value of the metric. Values may come in any order.
func (v *Values) Add(namespace, name string, dimensions map[string]string, at time.Time, value float64) {
	k := key(namespace, name, dimensions)
	v.points[k] = append(v.points[k], point{at, value})
	if v.From.IsZero() || at.Before(v.From) {
		v.From = at
	}
	if at.After(v.To) {
		v.To = at
	}
}

func key(namespace, name string, dimensions map[string]string) string {
	parts := []string{namespace, name}
	for _, d := range slices.Sorted(maps.Keys(dimensions)) {
		parts = append(parts, d, dimensions[d])
	}
	return strings.Join(parts, "\x00")
}

// AddLog adds the metrics in a log's Embedded Metric Format lines and returns
// the number of lines with metrics. AddLog skips text before a line's JSON,
// such as the function's name, and lines without JSON.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
func (v *Values) AddLog(log []byte) (int, error) {
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		start := bytes.IndexByte(lines.Bytes(), '{')
		if start < 0 {
			continue
		}
		var fields map[string]any
		var meta struct {
			AWS *metadata `json:"_aws"`
		}
		line := lines.Bytes()[start:]
		if json.Unmarshal(line, &meta) != nil || meta.AWS == nil || json.Unmarshal(line, &fields) != nil {
			continue
		}
		v.addLine(*meta.AWS, fields)
		count++
	}
	if err := lines.Err(); err != nil {
		return count, fmt.Errorf("read line %d of the log: %w", count+1, err)
	}
	return count, nil
}

type metadata struct {
	Timestamp         int64       `json:"Timestamp"` // milliseconds since 1970
	CloudWatchMetrics []directive `json:"CloudWatchMetrics"`
}

type directive struct {
	Namespace  string     `json:"Namespace"`
	Dimensions [][]string `json:"Dimensions"`
	Metrics    []struct {
		Name string `json:"Name"`
	} `json:"Metrics"`
}

// addLine adds each metric once per set of dimensions, as CloudWatch does.
func (v *Values) addLine(meta metadata, fields map[string]any) {
	at := time.UnixMilli(meta.Timestamp).UTC()
	for _, directive := range meta.CloudWatchMetrics {
		for _, set := range directive.Dimensions {
			dimensions := map[string]string{}
			for _, name := range set {
				dimensions[name] = fmt.Sprint(fields[name])
			}
			for _, m := range directive.Metrics {
				if value, ok := fields[m.Name].(float64); ok {
					v.Add(directive.Namespace, m.Name, dimensions, at, value)
				}
			}
		}
	}
}
