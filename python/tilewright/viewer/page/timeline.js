class TimelineView {}
