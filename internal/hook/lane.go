package hook

// Lanes returns all lanes.
func Lanes() []Lane {
	return []Lane{LaneLive, LaneRetry, LaneReplay, LaneSlot, LaneOverflow, LaneCoalesce}
}
