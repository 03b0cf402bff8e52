package stack

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// logLine is a line of a function's log in CloudWatch Logs.
type logLine struct {
	group     string
	Timestamp int64  `json:"timestamp"` // milliseconds
	Message   string `json:"message"`
}

// SaveFunctionLogs writes the functions' log lines to a file in time order,
// without Lambda's own lines.
func (s *Stack) SaveFunctionLogs(ctx context.Context, path string) error {
	var groups struct {
		LogGroups []struct{ LogGroupName string }
	}
	if err := s.logs(ctx, "DescribeLogGroups", map[string]any{}, &groups); err != nil {
		return err
	}
	var lines []logLine
	for _, g := range groups.LogGroups {
		group, err := s.groupLines(ctx, g.LogGroupName)
		if err != nil {
			return err
		}
		lines = append(lines, group...)
	}
	slices.SortStableFunc(lines, func(a, b logLine) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
	var b bytes.Buffer
	for _, line := range lines {
		fmt.Fprintf(&b, "%s %s\n", line.group[strings.LastIndexAny(line.group, "/-")+1:], strings.TrimSpace(line.Message))
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("save the functions' logs: %w", err)
	}
	return nil
}

// logPage is CloudWatch Logs' maximum of lines per page.
const logPage = 10_000

// groupLines returns one function's log lines. A full page may end within a
// millisecond, so the next page begins with the whole millisecond.
func (s *Stack) groupLines(ctx context.Context, group string) ([]logLine, error) {
	var lines []logLine
	for from := int64(0); ; {
		var page struct{ Events []logLine }
		if err := s.logs(ctx, "FilterLogEvents", map[string]any{"logGroupName": group, "startTime": from, "limit": logPage}, &page); err != nil {
			return nil, err
		}
		full := len(page.Events) >= logPage
		next := from
		if full {
			next = page.Events[len(page.Events)-1].Timestamp
			if next == from {
				return nil, fmt.Errorf("read the functions' logs: %s has more than %d lines of one millisecond", group, logPage)
			}
		}
		for _, line := range page.Events {
			if !platform(line.Message) && (!full || line.Timestamp < next) {
				line.group = group
				lines = append(lines, line)
			}
		}
		if !full {
			return lines, nil
		}
		from = next
	}
}

// platform reports whether Lambda wrote the line.
func platform(message string) bool {
	for _, word := range []string{"START RequestId", "END RequestId", "REPORT RequestId", "INIT_START"} {
		if strings.HasPrefix(message, word) {
			return true
		}
	}
	return false
}

func (s *Stack) logs(ctx context.Context, action string, in, out any) error {
	if err := s.Action(ctx, "logs", "Logs_20140328."+action, in, out); err != nil {
		return fmt.Errorf("read the functions' logs: %w", err)
	}
	return nil
}
