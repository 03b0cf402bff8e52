package strict

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	atFormat = "2006-01-02T15:04:05"
	// pastTolerance is above the time from the choice of a schedule's time to
	// the request. AWS refuses times in the past, and documents no tolerance.
	pastTolerance = time.Minute
	// linger is the time that a fired schedule with ActionAfterCompletion DELETE
	// keeps its name. AWS documents no bound; some minutes were reported.
	linger = 5 * time.Minute
)

func checkScheduler(c *call, now time.Time) *refusal {
	if c.operation != "CreateSchedule" && c.operation != "UpdateSchedule" {
		return nil
	}
	expression := c.input.text("ScheduleExpression")
	kind, value, _ := strings.Cut(strings.TrimSuffix(expression, ")"), "(")
	if !strings.HasSuffix(expression, ")") || kind != "at" && kind != "rate" && kind != "cron" {
		return &refusal{code: "ValidationException", message: "Invalid Schedule Expression " + expression + "."}
	}
	zone, err := time.LoadLocation(cmp.Or(c.input.text("ScheduleExpressionTimezone"), "UTC"))
	if err != nil {
		return &refusal{code: "ValidationException", message: "Provided Timezone is not valid: " + c.input.text("ScheduleExpressionTimezone")}
	}
	if kind == "at" {
		at, err := time.ParseInLocation(atFormat, value, zone)
		if err != nil || at.Before(now.Add(-pastTolerance)) {
			return &refusal{code: "ValidationException", message: "Invalid Schedule Expression " + expression + ": the time must be yyyy-mm-ddThh:mm:ss and in the future."}
		}
	}
	window := c.input.object("FlexibleTimeWindow")
	if (window.text("Mode") == "FLEXIBLE") != window.has("MaximumWindowInMinutes") {
		return &refusal{code: "ValidationException", message: "MaximumWindowInMinutes is required for a FLEXIBLE window, and must be absent for a window that is OFF."}
	}
	return nil
}

// schedules knows the one-time schedules that clients created, and refuses the
// name of a schedule that fired some minutes ago. Emulators remove fired
// schedules at once.
type schedules struct {
	mu sync.Mutex
	at map[string]time.Time // by group and name
}

func scheduleKey(in object) string {
	return cmp.Or(in.text("GroupName"), in.text("groupName"), "default") + "/" + in.text("Name")
}

// refuse returns the conflict of a name that a fired schedule still has.
func (s *schedules) refuse(c *call, now time.Time) *refusal {
	if c.operation != "CreateSchedule" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	at, known := s.at[scheduleKey(c.input)]
	if known && !now.Before(at) && now.Before(at.Add(linger)) {
		return &refusal{code: "ConflictException", status: 409, message: fmt.Sprintf("Schedule %s already exists.", c.input.text("Name"))}
	}
	return nil
}

// learn records a successful call.
func (s *schedules) learn(c *call) {
	if c.service != "scheduler" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	switch c.operation {
	case "CreateSchedule", "UpdateSchedule":
		delete(s.at, scheduleKey(c.input))
		expression := c.input.text("ScheduleExpression")
		zone, err := time.LoadLocation(cmp.Or(c.input.text("ScheduleExpressionTimezone"), "UTC"))
		if err != nil || c.input.text("ActionAfterCompletion") != "DELETE" {
			return
		}
		if at, err := time.ParseInLocation("at("+atFormat+")", expression, zone); err == nil {
			if s.at == nil {
				s.at = map[string]time.Time{}
			}
			s.at[scheduleKey(c.input)] = at
		}
	case "DeleteSchedule":
		delete(s.at, scheduleKey(c.input))
	}
}
