package scale

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Measured is the usage per delivery of one scenario of docs/cost.md.
type Measured struct {
	WriteUnits, ReadUnits float64 // of DynamoDB
	Schedules             float64 // made in EventBridge Scheduler
}

// Scenarios of docs/cost.md, by the text of their row.
const (
	Alone   = "an event posted alone"
	InBatch = "a batch of 100 events"
	Dead    = "dead after the whole policy"
)

var schedules = regexp.MustCompile(`CreateSchedule ([0-9.]+)`)

// ReadCosts reads the table "Units and requests per delivery" of docs/cost.md, by scenario. It returns
// an error if the table, a number or one of the scenarios above is missing.
func ReadCosts(document string) (map[string]Measured, error) {
	_, table, ok := strings.Cut(document, "## Units and requests per delivery")
	if !ok {
		return nil, fmt.Errorf("read the costs: no table of units")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	found := map[string]Measured{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 10 {
			continue
		}
		write, err := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
		if err != nil {
			continue // the head of the table
		}
		m := Measured{WriteUnits: write}
		if m.ReadUnits, err = strconv.ParseFloat(strings.TrimSpace(cells[4]), 64); err != nil {
			return nil, fmt.Errorf("read the costs: %w", err)
		}
		if n := schedules.FindStringSubmatch(cells[8]); n != nil {
			if m.Schedules, err = strconv.ParseFloat(n[1], 64); err != nil {
				return nil, fmt.Errorf("read the costs: %w", err)
			}
		}
		found[strings.TrimSpace(cells[1])] = m
	}
	for _, name := range []string{Alone, InBatch, Dead} {
		if found[name].WriteUnits == 0 {
			return nil, fmt.Errorf("read the costs: no scenario %q", name)
		}
	}
	return found, nil
}
