// The protocol of Paige. Made by paige-proto from proto/*.def; do not edit.

/** How much help the learner wants: 0 to 3 on the wire (P2.12, P5.19). */
export type HintLevel = "none" | "file" | "region" | "line";

/** Where a phase of the plan stands. */
export type PhaseStatus = "pending" | "active" | "complete";

/** Which days the statistics cover. */
export type StatsPeriod = "7d" | "30d" | "all";

/** A part of the session state (story 6). */
export type StateItem = "open_files" | "buffers" | "diffs" | "phase" | "plan" | "progress" | "hints" | "session" | "dreyfus" | "active_tab" | "selection" | "phase_text" | "recent_actions" | "diagnostics";

/** How hard a piece of work is. */
export type Difficulty = "beginner" | "intermediate" | "advanced";

/** How much something matters. */
export type Urgency = "low" | "medium" | "high";

/** How highlighted lines look (P6.5). */
export type HighlightStyle = "hint" | "focus" | "info" | "warning" | "error" | "success";

/** How a hinted file looks in the explorer (P6.4). */
export type HintStyle = "suggested" | "important" | "critical" | "subtle" | "obvious" | "unmissable" | "required" | "warning" | "error";

/** What kind of coaching message it is (P6.6). */
export type MessageType = "info" | "hint" | "success" | "warning" | "error";

/** What the Observer saw (story 10). */
export type NudgeSignal = "wrong_file" | "scope_drift" | "idle" | "phase_complete" | "edit_loop" | "no_nudge";

/** How severe it is, the worst first. */
export type DiagnosticSeverity = "error" | "warning" | "information" | "hint";

/** How much a line of a worker's log matters, the least first. */
export type LogLineLevel = "debug" | "info" | "warn" | "error";

/** Which of the four policy machines. */
export type GuardKind = "session-guard" | "breakloop" | "interview" | "idle";

/** What happened to a file or directory. */
export type TreeAction = "add" | "change" | "unlink" | "addDir" | "unlinkDir" | "rename";

/** What a node of the tree is. */
export type TreeKind = "file" | "directory";

/** What to do after a review. */
export type FollowUpType = "constraint_escalation" | "retry_hint" | "completed";

/** Where the learner is going. */
export type DreyfusSignal = "advancing" | "stable" | "struggling";

/** How an issue fits the learner. */
export type Suitability = "good_fit" | "stretch" | "too_advanced";

/** What a learning resource is. */
export type ResourceType = "documentation" | "article" | "video" | "tutorial";

/** How close a resource is to the gap. */
export type ResourceRelevance = "direct" | "deep_dive" | "supplementary";

/** What a decoration is. */
export type DecorationType = "line-highlight" | "gutter-marker" | "squiggly";

/** How a decoration looks. */
export type DecorationStyle = "hint" | "error" | "warning" | "success";

/** What a phase can become; nothing goes back (P6.9). */
export type PhaseChange = "active" | "complete";

/** Where the interview is. */
export type SessionGuardPhase = "background" | "coding";

/** Who judges what an answer covers. */
export type InterviewEvaluator = "keywords" | "claude";

/** Where an interview stands (IV-4.1). */
export type InterviewStatus = "NOT_STARTED" | "IN_PROGRESS" | "PAUSED" | "COMPLETED" | "TERMINATED";

/** Where a section stands (IV-4.2); intro and wrap-up take no time (I9). */
export type InterviewSubstate = "SECTION_INTRO" | "SECTION_QUESTION_ACTIVE" | "SECTION_FOLLOWUP_ACTIVE" | "SECTION_WRAPUP";

/** Why a section ended (IV-3.3). */
export type InterviewExit = "time_expired" | "coverage_satisfied" | "candidate_done" | "system_error";

/** What a check of doctor found. wrong: something must be fixed. */
export type FindingGrade = "fine" | "note" | "wrong";

/** What made the Observer look. */
export type ObserverTrigger = "file_open" | "file_save" | "phase" | "edits" | "idle";

/** What the Observer decided. cooldown and flow_state: without asking the model. contradiction: the model wanted to nudge without a signal. failed: the model could not be asked. */
export type ObserverVerdict = "nudged" | "cooldown" | "flow_state" | "low_confidence" | "no_nudge" | "contradiction" | "failed";

/** No fields. */
export type Empty = Record<string, never>;

/** A place in a text, counted from 1. */
export interface Position {
	/** Line. */
	line: number;
	/** Column in UTF-16 code units. */
	column: number;
}

/** A piece of a text. */
export interface TextRange {
	/** Its first character. */
	start: Position;
	/** The place behind its last character. */
	end: Position;
}

/** Size of a window in pixels. */
export interface WindowSize {
	/** Width. */
	width: number;
	/** Height. */
	height: number;
}

/** A piece of a text, counted from 1. Columns come as startCol/endCol or startColumn/endColumn (P5.21). */
export interface CodeRange {
	/** First line. */
	startLine: number;
	/** First column in UTF-16 code units. */
	startCol?: number;
	/** The same as startCol. */
	startColumn?: number;
	/** Last line. */
	endLine: number;
	/** Column behind the last one. */
	endCol?: number;
	/** The same as endCol. */
	endColumn?: number;
}

/** A file that the explorer is to show. */
export interface FileHint {
	/** Project-relative path. */
	path: string;
	/** How it looks, from subtle and suggested to critical and unmissable. */
	style: HintStyle;
	/** Directories above it that are to light up too. */
	directories?: string[];
}

/** Where a coaching message belongs. */
export interface MessageAnchor {
	/** Project-relative path of the file. */
	path: string;
	/** Which part of it. */
	range?: CodeRange;
}

/** A rule that makes a kata harder. */
export interface KataConstraint {
	/** Its name, unique within the kata. */
	title: string;
	/** What it asks for. */
	description: string;
	/** Level at which it unlocks. */
	minLevel: number;
}

/** Where a returning client left off. */
export interface ResumePoint {
	/** The epoch of the connection:init it had. */
	epoch: string;
	/** The last seq it received. */
	seq: number;
	/** Which of its connections; the newest closed one without it. */
	connectionId?: string;
}

/** The first message of an editor. */
export interface ConnectionHello {
	/** Version of the client. */
	version: string;
	/** Operating system of the client. */
	platform: string;
	/** Size of its window. */
	windowSize?: WindowSize;
	/** Asks for what was missed. */
	resume?: ResumePoint;
	/** The window takes coaching:progress; others are not told. */
	wantsProgress?: boolean;
	/** The window asks with fs:list what is in a directory: fs:tree after connection:init has what is in the project itself, not the whole tree, and later there is fs:tree_stale in its place. */
	listsDirectories?: boolean;
}

/** What is in a directory? */
export interface FsList {
	/** Project-relative or absolute path; "." for the project itself. */
	path: string;
}

/** The learner opened a file. */
export interface FileOpen {
	/** Project-relative or absolute path. */
	path: string;
}

/** The learner saved a file. */
export interface FileSave {
	/** Project-relative or absolute path. */
	path: string;
	/** The whole text. */
	content: string;
	/** Version the edit is based on; another one on disk is a CONFLICT. */
	baseVersion?: string;
}

/** The learner closed a file. */
export interface FileClose {
	/** Project-relative or absolute path. */
	path: string;
}

/** The unsaved text of an open file. */
export interface BufferUpdate {
	/** Project-relative or absolute path. */
	path: string;
	/** The whole text. */
	content: string;
	/** Where the cursor is. */
	cursorPosition?: Position;
	/** Accepted and ignored (P3.2). */
	selections?: unknown;
}

/** The learner went to another tab. */
export interface EditorTabSwitch {
	/** The tab left, if any. */
	fromPath?: string;
	/** The tab entered. */
	toPath: string;
}

/** The learner selected text. */
export interface EditorSelection {
	/** The file. */
	path: string;
	/** Where the selection is. */
	range?: unknown;
	/** Its length in UTF-16 code units. */
	textLength?: number;
	/** Its text, from clients that send no length (P5.20). */
	selectedText?: string;
}

/** Highlighted lines, as editor:highlight_lines told them: the text may have moved since. */
export interface EditorHighlightRef {
	/** The file. */
	path: string;
	/** First line. */
	start: number;
	/** Last line, not before the first. */
	end: number;
}

/** A file that lights up. */
export interface ExplorerHintRef {
	/** The file, as explorer:hint_files told it. */
	path: string;
}

/** What a compiler or a linter reports about a piece of a file. */
export interface EditorDiagnostic {
	/** The piece. Lines and columns are counted from 1, as everywhere here; those of LSP from 0. */
	range: TextRange;
	/** How severe it is. */
	severity: DiagnosticSeverity;
	/** The text; of a long one the first 1000 bytes are kept. */
	message: string;
	/** Which program reports it: typescript, eslint. */
	source?: string;
}

/** All that compilers and linters report about a file now. It replaces what was sent for the file before; an empty list removes that. Forgotten when the file is closed or deleted, and with the file worker. */
export interface EditorDiagnostics {
	/** Project-relative or absolute path. */
	path: string;
	/** In any order. The 100 most severe are kept, the others are counted. */
	diagnostics: EditorDiagnostic[];
}

/** The learner scrolled; accepted and ignored. */
export type EditorScroll = Record<string, never>;

/** The learner expanded or collapsed a directory; accepted and ignored. */
export interface ExplorerDir {
	/** The directory. */
	path?: string;
}

/** The learner moved the hint slider. */
export interface HintsLevelChange {
	/** The new level. */
	level: 0 | 1 | 2 | 3 | HintLevel;
	/** The level before. */
	previousLevel?: 0 | 1 | 2 | 3 | HintLevel;
}

/** Size of the terminal; kept with the connection. */
export interface TerminalSize {
	/** Columns. */
	cols?: number;
	/** Rows. */
	rows?: number;
}

/** Typed into the terminal; accepted and ignored, the editor owns it (P5.3). */
export interface TerminalInput {
	/** What was typed. */
	input?: string;
}

/** The learner paused. */
export interface UserIdleStart {
	/** When the learner last did something, as the client has it. */
	lastActionTimestamp?: unknown;
}

/** The learner picked an issue to work on. */
export interface SessionStart {
	/** Number of the issue. */
	issueNumber?: number | null;
}

/** The learner goes on with an earlier session. */
export interface SessionResume {
	/** Id of the session. */
	sessionId: string;
}

/** The learner opened the dashboard. */
export interface DashboardRequest {
	/** Which days the statistics cover; all without it (P12.4). */
	statsPeriod?: StatsPeriod;
	/** Issues and materials may be what Claude has answered to the same question in the last day, which costs nothing. Without it Claude is asked and paid (P12.24). */
	reuse?: boolean;
}

/** The learner asks what a piece of code means (story 11). */
export interface UserExplain {
	/** Project-relative or absolute path of the file. */
	path: string;
	/** Language id; by extension without it (P5.14). */
	language?: string;
	/** What is selected. */
	selection?: CodeRange;
	/** The older name of selection (P5.14). */
	range?: CodeRange;
	/** The selected text. */
	selectedText: string;
	/** Fifty lines before and after; from buffer or disk without it (P5.14). */
	surroundingContext?: string;
}

/** The learner opens a kata to work on it. */
export interface PracticeOpenKata {
	/** Id of the kata, as dashboard:state has it. */
	kataId: string;
}

/** The learner hands in a solution of a kata (story 11). Without a kata it is answered by review:error (P5.15). */
export interface UserReview {
	/** Id of the kata. */
	kataId?: string | null;
	/** The solution. */
	userCode?: string;
	/** Constraints that the learner took on; unknown titles are ignored (EC-77). */
	activeConstraintTitles?: string[];
}

/** The older form of user:review; also gets practice:solution_review (P5.16). */
export interface PracticeSubmitSolution {
	/** Id of the kata. */
	kataId: string;
	/** The solution. */
	code: string;
	/** Titles of the constraints that the learner took on. */
	activeConstraints?: string[];
}

/** The learner turns nudges off or on. */
export interface ObserverMute {
	/** True for off. */
	muted: boolean;
}

/** What the learner says to a nudge. */
export interface ObserverNudgeAnswer {
	/** That of the nudge. */
	signal: NudgeSignal;
	/** True: it helped. False: not now, and the time until the next nudge begins anew. */
	helpful: boolean;
}

/** One guard machine. */
export interface GuardRef {
	/** Which of the four. */
	kind: GuardKind;
	/** Which instance. */
	id: string;
}

/** One event for a guard machine. */
export interface GuardEvent {
	/** Which of the four. */
	kind: GuardKind;
	/** Which instance. */
	id: string;
	/** {type, clientEventId?, expectedCursor?, ...}. */
	event: Record<string, unknown>;
}

/** What this daemon can do now. */
export interface Capabilities {
	/** A Chroma server answers. */
	chromadb_available: boolean;
	/** The gh program is there. */
	github_api_available: boolean;
}

/** Which parts of the product are on. */
export interface FeatureFlags {
	/** The Observer watches. */
	observer_enabled: boolean;
	/** Katas can be practised. */
	practice_mode_enabled: boolean;
}

/** Answers connection:hello, to the sender alone. */
export interface ConnectionInit {
	/** The active coaching session (P5.10). */
	sessionId: string | null;
	/** What this daemon can do now. */
	capabilities: Capabilities;
	/** Which parts of the product are on. */
	featureFlags: FeatureFlags;
	/** A script answers in Claude's place (CLAUDE_SCRIPTED): windows tell the learner. */
	claudeScripted: boolean;
	/** Version of the daemon. */
	serverVersion: string;
	/** Version of this protocol. */
	protocolVersion: number;
	/** Changes at each start of the daemon. */
	epoch: string;
	/** The seq of this message. */
	seq: number;
	/** Names this connection when it resumes. */
	connectionId: string;
}

/** Something that was asked for failed. */
export interface ConnectionError {
	/** INVALID_MESSAGE, FILE_ERROR, NOT_FOUND, NOT_IMPLEMENTED, INTERNAL_ERROR, ... */
	code: string;
	/** For people: what failed, where, and what to do. */
	message: string;
	/** What it was about: {type, id} or {path}. */
	context: Record<string, unknown> | null;
	/** There is no such file. */
	missing?: boolean;
}

/** A file or directory. */
export interface TreeNode {
	/** Its name. */
	name: string;
	/** Project-relative path; "." for the project itself. */
	path: string;
	/** What it is. */
	type: TreeKind;
	/** Of a directory: directories first, each by name. Absent where they are not told, as from the 30th level of the whole tree on: fs:list asks for them. */
	children?: TreeNode[];
}

/** The tree of the project, or one directory of it. */
export interface FsTree {
	/** The project, or the directory. */
	root: TreeNode;
}

/** One change in the tree. */
export interface FsTreeUpdate {
	/** What happened. */
	action: TreeAction;
	/** Project-relative path. */
	path: string;
	/** Of a rename. */
	newPath?: string;
}

/** Content of a file. */
export interface FsContent {
	/** Project-relative path. */
	path: string;
	/** The text; empty for a binary file. */
	content: string;
	/** Language by extension; "binary" for a binary file. */
	language: string;
	/** Number of pieces between line ends. */
	lineCount: number;
	/** Hash of the content, for baseVersion of a save. */
	version: string;
	/** Present and true for a binary file. */
	binary?: boolean;
}

/** A file was saved. */
export interface FsSaveAck {
	/** Project-relative path. */
	path: string;
	/** Always true. */
	success: boolean;
	/** When, ISO 8601 (P5.22). */
	timestamp: string;
	/** Hash of the new content. */
	version: string;
}

/** A file was not saved; the one on disk is as it was. */
export interface FsSaveError {
	/** The path as it was asked for. */
	path: string;
	/** For people. */
	error: string;
	/** CONFLICT, FILE_ERROR, ... */
	code?: string;
	/** Of a CONFLICT: what is on disk now. */
	version?: string;
}

/** Claude opens a file in the editor. */
export interface EditorOpenFile {
	/** Project-relative path. */
	path: string;
	/** The text; empty for a binary file. */
	content: string;
	/** Language by extension. */
	language: string;
	/** Number of pieces between line ends. */
	lineCount: number;
}

/** Claude highlights lines; highlights add up. */
export interface EditorHighlightLines {
	/** The file. */
	path: string;
	/** First line. */
	start: number;
	/** Last line. */
	end: number;
	/** How they look. */
	style: string;
	/** Shown under the pointer. */
	hoverText?: string;
}

/** Highlights are removed. */
export interface EditorClearHighlights {
	/** In one file; in all without it. */
	path?: string;
}

/** The issue a session is about. */
export interface IssueContext {
	/** Number of the issue. */
	number: number | null;
	/** Title, when known (P2.14). */
	title: string | null;
}

/** A session began. */
export interface SessionStarted {
	/** Id of the session. */
	sessionId: string;
	/** The issue. */
	issueContext: IssueContext;
	/** Always [] at the start. */
	phases: unknown[];
	/** How much help is wanted. */
	hintLevel: number;
	/** Files that are open. */
	openFiles?: string[];
}

/** A session goes on. */
export interface SessionResumed {
	/** The nine state items of an include that is empty. From the store without open_files, buffers and diffs, which the gateway asks of the file worker. */
	restoredState: SessionState;
	/** The file worker did not answer in time: open_files, buffers and diffs are not all there, and are not sent again. Ask for them with buffers:request. */
	incomplete?: boolean;
}

/** How a session went. */
export interface SessionSummary {
	/** Id of the session. */
	sessionId: string;
	/** abandoned. */
	status: string;
	/** From start to end. */
	durationMs: number;
	/** Phases that are complete. */
	phasesCompleted: number;
}

/** A session ended without wrap-up. */
export interface SessionEnded {
	/** How it went. */
	summary: SessionSummary;
}

/** A session was wrapped up (P9.1). */
export interface SessionCompleted {
	/** Id of the session. */
	sessionId: string;
	/** New gaps that were found. */
	knowledgeGaps: number;
	/** New katas. */
	kataSpecs: number;
	/** Skills that were assessed. */
	dreyfusUpdates: number;
	/** Memories that were kept. */
	memoriesStored: number;
}

/** Files light up in the explorer. paths and style are there when Claude gave one style for all (P6.3). */
export interface ExplorerHintFiles {
	/** The files. */
	hints: FileHint[];
	/** The same files. */
	paths?: string[];
	/** The style of all of them. */
	style?: HintStyle;
}

/** A phase of the plan has another status (P6.8). */
export interface CoachingPhaseUpdate {
	/** Number of the phase in its plan. */
	phase: number;
	/** The new status. */
	status: PhaseStatus;
	/** What to do in it. */
	description: string;
	/** Id of the phase. */
	id: string;
	/** The same as phase. */
	number: number;
	/** Title of the phase. */
	title: string;
	/** When it became active, ISO 8601. */
	startedAt: string | null;
	/** When it was complete, ISO 8601. */
	completedAt: string | null;
}

/** Claude says something beside the code. */
export interface CoachingMessage {
	/** The text. */
	message: string;
	/** What kind of message it is. */
	type: MessageType;
	/** Where it belongs. */
	anchor?: MessageAnchor;
}

/** How far a longer piece of work has come. */
export interface CoachingProgress {
	/** The tool that does it. */
	tool: string;
	/** Steps that are done. */
	step: number;
	/** Steps there are; step is total at the end. */
	total: number;
	/** What is done now, for people. */
	message: string;
}

/** The issue that is worked on. What Claude did not give is left out (P6.7). */
export interface CoachingIssueContext {
	/** Number of the issue. */
	number?: number;
	/** Title of the issue. */
	title: string;
	/** What it is about. */
	summary: string;
	/** Its labels: names, or objects {name, color}. */
	labels?: unknown[];
	/** Its page. */
	url?: string;
}

/** A phase of a coaching plan. */
export interface PlanPhase {
	/** Its place in the plan. */
	number: number;
	/** Its title. */
	title: string;
	/** What Paige says about it. */
	description: string;
	/** How much help it comes with. */
	hintLevel: HintLevel;
	/** Where it stands; only for windows (P9.13). */
	status?: PhaseStatus;
}

/** A coaching plan was made. */
export interface CoachingPlanReady {
	/** Id of the plan. */
	planId: string;
	/** Its phases, in order. */
	phases: PlanPhase[];
	/** How it resembles earlier work. */
	memoryConnection: string | null;
	/** beginner, intermediate or advanced. */
	estimatedDifficulty: string;
}

/** What a nudge is about. */
export interface NudgeContext {
	/** The file being edited. */
	current_file: string | null;
	/** The file the phase is about. */
	expected_file: string | null;
	/** For how long, for people. */
	time_in_file: string | null;
	/** What the phase asks for. */
	phase_description: string | null;
}

/** The Observer thinks that a word would help now. */
export interface ObserverNudge {
	/** What it saw. */
	signal: NudgeSignal;
	/** How sure it is. */
	confidence: number;
	/** What it is about. */
	context: NudgeContext;
}

/** What the Observer is doing (P10.8). */
export interface ObserverStatus {
	/** It watches a session. */
	active: boolean;
	/** The learner turned nudges off. */
	muted: boolean;
	/** When it last looked, ISO 8601. */
	lastEvaluation: string | null;
}

/** What a piece of code means. */
export interface ExplainResponse {
	/** The file, as it was asked for. */
	path: string;
	/** The explanation. */
	explanation: string;
	/** What it builds on. */
	keyConcepts: string[];
	/** A comparison, where one helps. */
	analogy: string | null;
	/** Files to read with it. */
	relatedFiles: string[] | null;
	/** What it has to do with the current phase (P11.14). */
	phaseConnection: string | null;
}

/** A piece of code could not be explained. */
export interface ExplainError {
	/** The file, as it was asked for. */
	path: string;
	/** For people. */
	error: string;
}

/** A kata to work on; never with its instructor notes. */
export interface PracticeKata {
	/** Id of the kata. */
	id: string;
	/** Its title. */
	title: string;
	/** What to do. */
	description: string;
	/** What to begin with. */
	scaffoldingCode: string;
}

/** An earlier attempt at a kata: what was handed in, and what its review said. */
export interface PracticeAttempt {
	/** Which one it was, counted from 1. */
	number: number;
	/** The solution, or the beginning of it. */
	code: string;
	/** True: the solution is longer, and the rest of it is left off. */
	codeCut?: boolean;
	/** The feedback, or the beginning of it. An older attempt may have none. */
	review?: string;
	/** True: the feedback is longer, and the rest of it is left off. */
	reviewCut?: boolean;
	/** The level that it has shown. */
	level?: number;
	/** It passed. */
	passed?: boolean;
	/** Titles of the constraints that were on: the first 20, and of each the first 200 bytes. */
	constraints: string[];
}

/** A kata that the learner has opened. */
export interface PracticeKataLoad {
	/** The kata. */
	kata: PracticeKata;
	/** Its constraints. Those above the best level of the learner, or above 1 without any attempt, are not unlocked yet. */
	constraints: KataConstraint[];
	/** The last 20 attempts, the newest first. Earlier ones are left off. */
	attempts: PracticeAttempt[];
	/** How many attempts there are, also those that are left off. */
	attemptsCount: number;
	/** A review of this kata is under way since then, ISO 8601; of several the first. Its answer comes to all windows. Absent when no answer is to come. */
	reviewSince?: string;
}

/** What to do next. */
export interface ReviewFollowUp {
	/** What kind of step. */
	type: FollowUpType;
	/** A new constraint to try. */
	constraint?: string;
	/** Why. */
	reason?: string;
}

/** What a solution of a kata is worth. */
export interface ReviewResponse {
	/** Id of the kata. */
	kataId: string;
	/** It does what was asked. */
	correct: boolean;
	/** What to know about it. */
	feedback: string;
	/** Level of the learner in this kata. */
	level: number;
	/** This attempt passes. */
	passed: boolean;
	/** What to do next. */
	followUp: ReviewFollowUp | null;
	/** Where the learner is going. */
	dreyfusSignal: DreyfusSignal;
	/** Constraints that unlock with this level (P11.4). */
	unlockedConstraints: KataConstraint[];
}

/** A solution could not be reviewed. */
export interface ReviewError {
	/** Id of the kata, if one was given. */
	kataId: string | null;
	/** For people. */
	error: string;
}

/** The older form of review:response, after practice:submit_solution alone (P5.16). */
export interface PracticeSolutionReview {
	/** The feedback. */
	review: string;
	/** Level of the learner in this kata. */
	level: number;
	/** This attempt passes. */
	passed: boolean;
	/** Constraints that unlock with this level. */
	constraintsUnlocked: KataConstraint[];
}

/** An assessed skill. */
export interface DashboardSkill {
	/** The skill. */
	skillArea: string;
	/** How far the learner is in it. */
	stage: string;
	/** How sure that is. */
	confidence: number;
	/** When, ISO 8601. */
	assessedAt: string;
}

/** Figures about a period. */
export interface DashboardStats {
	/** The period. */
	period: StatsPeriod;
	/** Sessions that were wrapped up. */
	sessionsCompleted: number;
	/** How long they were. */
	totalCoachingMinutes: number;
	/** Different issues. */
	issuesWorkedOn: number;
	/** Gaps that were seen. */
	knowledgeGapsIdentified: number;
	/** Gaps that were closed. */
	knowledgeGapsAddressed: number;
	/** Hints that were shown. */
	hintsUsed: number;
	/** Cost of the calls to Claude in US dollars. */
	apiCostTotal: number;
}

/** A session that is not over. */
export interface DashboardSession {
	/** Id of the session. */
	id: string;
	/** Number of its issue. */
	issueNumber: number | null;
	/** Title of its issue. */
	issueTitle: string | null;
	/** When it began, ISO 8601. */
	startedAt: string;
}

/** A kata; never with its instructor notes. */
export interface DashboardKata {
	/** Id of the kata. */
	id: string;
	/** Its title. */
	title: string;
	/** The gap it is for. */
	topic: string;
	/** Solutions handed in. */
	attemptsCount: number;
	/** The best level of them. */
	bestLevel: number | null;
	/** Constraints it has. */
	constraintCount: number;
}

/** The dashboard without what Claude has to be asked for (P5.13). */
export interface DashboardState {
	/** Assessed skills. */
	dreyfus: DashboardSkill[];
	/** Figures about the period that was asked for. */
	stats: DashboardStats;
	/** Sessions that are not over. */
	inProgressSessions: DashboardSession[];
	/** All katas. */
	katas: DashboardKata[];
}

/** Why an issue ranks where it does. */
export interface PriorityFactors {
	/** It is assigned to the learner. */
	userTagged: boolean;
	/** It is like what was done lately. */
	similarToRecentWork: boolean;
	/** It would close a gap. */
	addressesKnowledgeGap: boolean;
	/** How much the team waits for it. */
	teamUrgency: Urgency;
}

/** An open issue, assessed. */
export interface DashboardIssue {
	/** Its number. */
	number: number;
	/** Its title. */
	title: string;
	/** What it is about. */
	summary: string;
	/** How it fits the learner. */
	suitability: Suitability;
	/** Why. */
	suitabilityReason: string;
	/** How hard it is. */
	estimatedDifficulty: Difficulty;
	/** Skills it takes. */
	relevantSkills: string[];
	/** Its rank. */
	priorityScore: number;
	/** Why it ranks there. */
	priorityFactors: PriorityFactors;
	/** What it teaches. */
	learningOpportunities: string[];
}

/** Open issues, the most worthwhile first (P12.20). */
export interface DashboardIssues {
	/** Ten at most. */
	issues: DashboardIssue[];
}

/** A part of the dashboard could not be loaded. */
export interface DashboardError {
	/** For people. */
	error: string;
}

/** Something to read or watch. */
export interface LearningResource {
	/** What it is. */
	type: ResourceType;
	/** Its title. */
	title: string;
	/** Where it is. */
	url: string;
	/** What is in it. */
	description: string;
	/** How close it is to the gap. */
	relevance: ResourceRelevance;
	/** How long it takes, for people. */
	estimatedTime: string;
}

/** What to learn about one gap. */
export interface LearningRecommendation {
	/** The gap. */
	knowledgeGap: string;
	/** Where to learn it. */
	resources: LearningResource[];
	/** In which order. */
	studyOrder: string;
	/** A kata that goes with it. */
	practiceConnection: string | null;
}

/** What to learn next. */
export interface DashboardMaterials {
	/** One for each gap. */
	recommendations: LearningRecommendation[];
}

/** State of a guard machine: at once after guard:subscribe and after every change. */
export interface GuardState {
	/** Which of the four. */
	kind: GuardKind;
	/** Which instance. */
	id: string;
	/** Number of the last event that it took. */
	cursor: number;
	/** As the kind has it. */
	state: Record<string, unknown>;
}

/** Something a guard machine wants done. */
export interface GuardEffect {
	/** Which of the four. */
	kind: GuardKind;
	/** Which instance. */
	id: string;
	/** {type, ...}. */
	effect: Record<string, unknown>;
}

/** Answers a guard event. */
export interface GuardResult {
	/** Number of the last event of the machine. */
	cursor: number;
	/** The clientEventId was there already: nothing changed, this is the first answer. */
	duplicate: boolean;
	/** breakloop: {action, reason}. */
	decision?: Record<string, unknown>;
	/** What is to be done: {type, ...}. */
	effects: unknown[];
	/** The state after the event. */
	state: Record<string, unknown>;
}

/** A skill in the radar. */
export interface SkillScore {
	/** The skill. */
	name: string;
	/** How far the learner is in it. */
	stage: string;
	/** The same as a number. */
	score: number;
}

/** Skills for a radar chart. */
export interface DashboardDreyfus {
	/** The skills. */
	skillAreas: SkillScore[];
	/** The stage over all of them. */
	overallStage: string;
}

/** One mark in the editor. */
export interface Decoration {
	/** What it is. */
	type: DecorationType;
	/** Where it is. */
	range: CodeRange;
	/** Shown under the pointer. */
	message?: string;
	/** How it looks. */
	style: DecorationStyle;
	/** From which hint level on it is shown. */
	level?: 0 | 1 | 2 | 3 | HintLevel;
}

/** Marks in one file. */
export interface EditorDecorations {
	/** The file. */
	path: string;
	/** The marks. */
	decorations: Decoration[];
}

/** Marks are removed. */
export interface EditorClearDecorations {
	/** In one file; in all without it. */
	path?: string;
}

/** A text under the pointer. */
export interface EditorHoverHint {
	/** The file. */
	path: string;
	/** Where it shows. */
	range: CodeRange;
	/** The text. */
	hintText: string;
}

/** The editor was told. */
export interface ToolSuccess {
	/** Always true. */
	success: boolean;
	/** How many windows of the editor were told. */
	windows?: number;
	/** What became of it when no window was told. */
	note?: string;
}

/** Which buffer. */
export interface ToolGetBufferInput {
	/** Path of the file: relative to the project, or absolute inside it. */
	path: string;
	/** First line to return, counted from 1. Leave it out to get the whole buffer, if it is small, or its beginning. */
	startLine?: number;
	/** Last line to return. Leave it out to get as many lines as fit. */
	endLine?: number;
	/** Where in the first line to begin, in UTF-16 code units. Only for a line that is too long for one answer: take it from `more`. */
	startColumn?: number;
}

/** The open files. */
export interface ToolGetOpenFilesOutput {
	/** Project-relative paths, in the order in which they were opened. */
	files: string[];
}

/** Which differences. */
export interface ToolGetDiffInput {
	/** One file, when you know which; leave it out to get every file with unsaved edits. */
	path?: string;
	/** Only with path, for a diff that was too long: the line of the diff to go on from. Take it from `more`. */
	startLine?: number;
}

/** Unsaved edits of one file. */
export interface FileDiff {
	/** Project-relative path. */
	path: string;
	/** Unified diff from disk to buffer. */
	diff: string;
	/** What of the diff is left, and how to ask for it. */
	more?: string;
}

/** Differences between buffers and disk. */
export interface ToolGetDiffOutput {
	/** One for each file with unsaved edits. */
	diffs: FileDiff[];
}

/** Which parts of the state. */
export interface ToolGetSessionStateInput {
	/** Only these. Without it, or when it is empty: open_files to dreyfus, which is what a conversation begins with. Ask for active_tab and selection to learn what the learner looks at, for phase_text before you speak of what the phase asks for, for recent_actions to learn what the learner just did, for diagnostics to learn what compilers and linters report in the editor. */
	include?: StateItem[];
}

/** buffers: what the learner has in the editor for one file. */
export interface StateBuffer {
	/** Project-relative path. */
	path: string;
	/** The whole text; a tool leaves out a long one. */
	content?: string;
	/** Where the cursor is. */
	cursorPosition: Position;
	/** True while there are unsaved edits. */
	dirty: boolean;
	/** Present and true when the file is no longer the one that the unsaved edits began with: another program has changed or removed it. */
	conflict?: boolean;
	/** Length in UTF-16 code units, when content is left out. */
	size?: number;
	/** How many lines, when content is left out: paige_get_buffer with startLine and endLine reads them. */
	lines?: number;
	/** When it last changed, ISO 8601, when content is left out. */
	lastUpdated?: string;
}

/** What a compiler or a linter reports about a piece of a file. */
export interface StateDiagnostic {
	/** Project-relative path. */
	path: string;
	/** The piece, as the learner sees it. */
	range: TextRange;
	/** How severe it is. */
	severity: DiagnosticSeverity;
	/** The text. */
	message: string;
	/** Which program reports it. */
	source?: string;
}

/** diagnostics: what compilers and linters report in the editor, errors first. */
export interface StateDiagnostics {
	/** By severity, then path, then line. */
	items: StateDiagnostic[];
	/** How many more there are. */
	leftOut?: number;
}

/** phase: the current phase, or null. */
export interface StatePhase {
	/** Id of the phase. */
	id: string;
	/** Its place in the plan. */
	number: number;
	/** Its title. */
	title: string;
	/** Where it stands. */
	status: PhaseStatus;
	/** How much help it comes with: none, file, region or line. */
	hintLevel: string;
}

/** A phase of the current plan. */
export interface StatePlanPhase {
	/** Its place in the plan. */
	number: number;
	/** Its title. */
	title: string;
	/** Where it stands. */
	status: PhaseStatus;
}

/** plan: the newest plan of the session, or null (P6.11). */
export interface StatePlan {
	/** Id of the plan. */
	id: string;
	/** Its phases, in order. */
	phases: StatePlanPhase[];
}

/** progress: what happened in the phases of the plan, oldest first (P6.14). */
export interface StateProgress {
	/** hint_used, hint_escalated, review_requested or review_passed. */
	eventType: string;
	/** More about it. */
	data: unknown | null;
	/** When, ISO 8601. */
	createdAt: string;
}

/** A file that the current phase hints at. */
export interface StateFileHint {
	/** Project-relative path. */
	path: string;
	/** How it looks. */
	style: string;
}

/** Lines that the current phase hints at. */
export interface StateLineHint {
	/** Project-relative path. */
	path: string;
	/** First line. */
	start: number | null;
	/** Last line. */
	end: number | null;
	/** How they look. */
	style: string;
	/** Shown under the pointer. */
	hoverText: string | null;
}

/** hints: those of the current phase (P6.14). */
export interface StateHints {
	/** Files. */
	fileHints: StateFileHint[];
	/** Lines. */
	lineHints: StateLineHint[];
}

/** session: the active session. */
export interface StateSession {
	/** Id of the session. */
	id: string;
	/** The project. */
	projectDir: string;
	/** Number of its issue. */
	issueNumber?: number | null;
	/** Title of its issue, when known. */
	issueTitle?: string | null;
	/** When it began, ISO 8601. */
	startedAt: string;
	/** How much help the learner wants now: none, file, region or line. Point at nothing finer. */
	hintLevel?: HintLevel;
}

/** dreyfus: an assessed skill, the newest first. */
export interface StateSkill {
	/** The skill. */
	skillArea: string;
	/** How far the learner is in it. */
	stage: string;
	/** How sure that is. */
	confidence: number;
}

/** active_tab: the tab that the learner went to last, or null. */
export interface StateTab {
	/** Project-relative path. */
	path: string;
	/** Since when, ISO 8601. */
	since: string;
}

/** selection: what the learner selected last, or null. */
export interface StateSelection {
	/** Project-relative path. */
	path: string;
	/** Where, as the editor told it. */
	range?: unknown;
	/** Its length in UTF-16 code units. */
	textLength?: number;
	/** When, ISO 8601. */
	at: string;
}

/** recent_actions: something that happened in the session, the newest last. */
export interface StateAction {
	/** What: file_save, tab_switch, hint_level_change, and so on. */
	type: string;
	/** More about it. */
	data: unknown | null;
	/** When, ISO 8601. */
	createdAt: string;
}

/** A phase of the plan. */
export interface PhaseInfo {
	/** Id of the phase. */
	id: string;
	/** Its place in the plan. */
	number: number;
	/** Its title. */
	title: string;
	/** What to do in it. */
	description: string;
	/** Where it stands. */
	status: PhaseStatus;
	/** When it became active, ISO 8601. */
	startedAt: string | null;
	/** When it was complete, ISO 8601. */
	completedAt: string | null;
}

/** State of the session: the items that were asked for. Put together by the store; here for readers. */
export interface SessionState {
	/** Files that are open. */
	open_files?: string[];
	/** Buffers. */
	buffers?: StateBuffer[];
	/** Unsaved edits. */
	diffs?: FileDiff[];
	/** The current phase. */
	phase?: StatePhase | null;
	/** The newest plan. */
	plan?: StatePlan | null;
	/** What happened in its phases. */
	progress?: StateProgress[];
	/** Hints of the current phase. */
	hints?: StateHints;
	/** The session. */
	session?: StateSession | null;
	/** Assessed skills. */
	dreyfus?: StateSkill[];
	/** The tab that the learner is in. */
	active_tab?: StateTab | null;
	/** What the learner selected last. */
	selection?: StateSelection | null;
	/** The current phase with what is to do in it. */
	phase_text?: PhaseInfo | null;
	/** What just happened. */
	recent_actions?: StateAction[];
	/** What compilers and linters report. */
	diagnostics?: StateDiagnostics;
}

/** Which file. */
export interface ToolOpenFileInput {
	/** Path of the file: relative to the project, or absolute inside it. */
	path: string;
}

/** The file is open in the editor. */
export interface ToolOpenFileOutput {
	/** Always true. */
	success: boolean;
	/** Project-relative path. */
	path: string;
	/** How many windows of the editor were told. */
	windows?: number;
	/** What became of it when no window was told. */
	note?: string;
}

/** Which lines. */
export interface ToolHighlightLinesInput {
	/** Path of a file that is there: relative to the project, or absolute inside it. */
	path: string;
	/** First line, counted from 1 in what the learner sees (paige_get_buffer). */
	start: number;
	/** Last line, not before the first and not behind the end; the same as start for one line. */
	end: number;
	/** hint: look here. focus: this is what we speak of. info: a remark. warning: a doubt. error: this is wrong. success: this is right. */
	style: HighlightStyle;
	/** A sentence shown under the pointer; leave it out when the lines speak for themselves. */
	hoverText?: string;
}

/** Where. */
export interface ToolClearHighlightsInput {
	/** One file; leave it out to clear all files. */
	path?: string;
}

/** Which files: hints, or paths with one style for all (P6.3). */
export interface ToolHintFilesInput {
	/** Files, each with its own style. Give these when the files differ in weight, else paths with a style. */
	hints?: FileHint[];
	/** Paths of files that all get the same style; needs style. */
	paths?: string[];
	/** The style of paths: subtle or suggested for a nudge, important or obvious for where the work is, critical, required or unmissable when the learner is stuck, warning or error for what went wrong. */
	style?: HintStyle;
}

/** Which phase. */
export interface ToolUpdatePhaseInput {
	/** Number of the phase in the newest plan of the session, as in `plan` of the session state. */
	phase: number;
	/** active when the learner begins it, complete when the work in it is done and checked. Nothing goes back. */
	status: PhaseChange;
}

/** The phase as it is now. */
export interface ToolUpdatePhaseOutput {
	/** Always true. */
	success: boolean;
	/** The phase. */
	phase: PhaseInfo;
}

/** What to say. */
export interface ToolShowMessageInput {
	/** The text, Markdown; a few sentences. */
	message: string;
	/** hint: help for the next step. info: a fact. success: praise for something done. warning: a risk ahead. error: something is broken. */
	type: MessageType;
	/** Where in which file it belongs, when it is about a place; leave it out for a note at the edge of the window. */
	anchor?: MessageAnchor;
}

/** Which issue. */
export interface ToolShowIssueContextInput {
	/** Number of the issue, if it has one. */
	number?: number;
	/** Title of the issue. */
	title: string;
	/** What it asks for, in a few sentences of your own. */
	summary: string;
	/** Its labels: names, or objects {name, color}. */
	labels?: unknown[];
	/** Its page. */
	url?: string;
}

/** What the coaching plan is made from. */
export interface ToolRunCoachingPipelineInput {
	/** The plan for the change, Markdown: the steps, with the files and lines they touch. The better the plan, the better the phases. */
	planText: string;
	/** What the issue is about, in a few sentences; memories of earlier work are found by it. */
	issueSummary: string;
	/** Number of the issue, if it has one. */
	issueNumber?: number;
}

/** The coaching plan. */
export interface ToolRunCoachingPipelineOutput {
	/** Id of the plan. */
	planId: string;
	/** Its phases, in order. */
	phases: PlanPhase[];
	/** How it resembles earlier work. */
	memoryConnection: string | null;
	/** beginner, intermediate or advanced. */
	estimatedDifficulty: string;
}

/** What the wrap-up is made from. */
export interface ToolEndSessionInput {
	/** The conversation, condensed: what was hard, what was learned, what is left. The first 50,000 characters count. */
	sessionTranscript: string;
}

/** What the wrap-up brought. */
export interface ToolEndSessionOutput {
	/** New gaps that were found. */
	knowledgeGaps: number;
	/** New katas. */
	kataSpecs: number;
	/** Skills that were assessed. */
	dreyfusUpdates: number;
	/** Memories that were kept. */
	memoriesStored: number;
	/** Always completed. */
	sessionStatus: string;
}

/** A row of the action log, as it is published. */
export interface ActionEvent {
	/** Its number. The next row that is written has the next one. */
	n: number;
	/** Id of the row. */
	id: string;
	/** The coaching session. */
	sessionId: string;
	/** One of actions.def. */
	type: string;
	/** As actions.def says for the type. */
	data: unknown | null;
	/** When it happened, ISO 8601 with milliseconds. */
	createdAt: string;
}

/** Which part of a stream. */
export interface GuardEventsQuery {
	/** Which of the four. */
	kind: GuardKind;
	/** Which instance. */
	id: string;
	/** Events with a higher number only. */
	since?: number;
}

/** One event of a stream. */
export interface GuardStreamEvent {
	/** Its number. */
	seq: number;
	/** When, Unix milliseconds. */
	at: number;
	/** Who caused it. */
	actor: string;
	/** What happened. */
	type: string;
	/** As the type has it. */
	payload: unknown;
}

/** Events of a stream, in order. */
export interface GuardEvents {
	/** The events. */
	events: GuardStreamEvent[];
}

/** Which machines. */
export interface GuardListQuery {
	/** Which of the four. */
	kind: GuardKind;
}

/** Which items of the session state the file worker is to tell. */
export interface FsStateQuery {
	/** open_files, buffers, diffs, diagnostics. */
	include?: StateItem[];
	/** For a model: all at once, and long texts are left out or cut. */
	brief?: boolean;
	/** Goes on behind the buffer of this path: `next` of the answer before. */
	after?: string;
}

/** What the file worker knows of the session state (story 6). */
export interface FsState {
	/** There are more buffers or diffs: ask again with this as `after`. */
	next?: string;
	/** Files that are open. */
	open_files?: string[];
	/** Buffers. */
	buffers?: StateBuffer[];
	/** Unsaved edits. */
	diffs?: FileDiff[];
	/** What compilers and linters report. */
	diagnostics?: StateDiagnostics;
}

/** Constants of a session guard; those that are left out come from the settings. */
export interface SessionGuardConfig {
	/** Length of the background phase. */
	timeboxMs?: number;
	/** Answers without substance in a row that end a project. */
	zeroRunLimit?: number;
	/** Projects that may be discussed. */
	projectCap?: number;
	/** Confidence that every trait needs (G10). */
	tau?: number;
	/** Evidence that gives a confidence of one half (G10). */
	c?: number;
	/** Samples that every trait needs (G10). */
	minSamples?: number;
	/** The scripted question that opens the coding phase. */
	codingQuestion?: string;
	/** The engine asks the model for the score of each answer. */
	autoScore?: boolean;
	/** Silence before the coding question, so that it does not fall on a side that goes on speaking (R54). */
	settleMs?: number;
	/** Longest wait for the end of a reply once the phase is due to end (R54). */
	replyWaitMs?: number;
	/** Longest wait for the end of speech once the phase is due to end (R54). */
	speechWaitMs?: number;
}

/** Score of one answer; what is out of 0 to 100 is clipped. */
export interface GuardPillars {
	/** 0 to 100. */
	adaptability: number;
	/** 0 to 100. */
	creativity: number;
	/** 0 to 100. */
	reasoning: number;
}

/** Why the score is what it is, pillar by pillar. */
export interface GuardRationales {
	/** Quotes the answer. */
	adaptability?: string;
	/** Quotes the answer. */
	creativity?: string;
	/** Quotes the answer. */
	reasoning?: string;
}

/** A trait in the debug panel. */
export interface SessionGuardTrait {
	/** Samples. */
	n: number;
	/** Evidence. */
	W: number;
	/** Weighted mean. */
	S: number;
	/** Confidence, W/(W+c). */
	conf: number;
	/** Confidence that is needed. */
	tau: number;
}

/** The traits in the debug panel. */
export interface SessionGuardTraits {
	/** The trait. */
	adaptability: SessionGuardTrait;
	/** The trait. */
	creativity: SessionGuardTrait;
	/** The trait. */
	reasoning: SessionGuardTrait;
}

/** State of a session guard: all that the debug panel shows (SG-FR-005). */
export interface SessionGuardView {
	/** Where the interview is. */
	phase: SessionGuardPhase;
	/** Time left, m:ss (G9). */
	remaining: string;
	/** When the first question was asked, Unix milliseconds. */
	startedAtMs: number | null;
	/** Since then. */
	elapsedMs: number;
	/** Length of the phase. */
	timeboxMs: number;
	/** Scores of 0/0/0 in a row. */
	zeroRuns: number;
	/** Projects with substance (G1). */
	projectsUsed: number;
	/** Another project was asked for (G3). */
	askedForAnother: boolean;
	/** The gate is open. */
	stopCheck: boolean;
	/** The traits. */
	traits: SessionGuardTraits;
	/** The last score, clipped. */
	pillars: GuardPillars | null;
	/** Its reasons. */
	rationales: GuardRationales | null;
	/** A reply is under way. */
	aiSpeaking: boolean;
	/** The candidate speaks. */
	userSpeaking: boolean;
	/** Invitations to code before the coding phase. */
	violations: number;
	/** Answers whose score is still to come (autoScore). */
	scoring: number;
	/** Why the coding phase began. */
	reason: string | null;
	/** All that held then (G5). */
	reasons: string[];
}

/** Constants of a BreakLoop; its event `settings` carries those that change. */
export interface BreakloopConfig {
	/** Quick tasks in a window. */
	nQuickTask?: number;
	/** Length of the window: 1, 4, 12 or 24 hours. */
	windowHours?: number;
	/** Length of a quick task. */
	quickTaskMs?: number;
	/** Whose wall clock the windows follow: a name of the time zone database. */
	timezone?: string;
	/** The apps that are watched. */
	monitored?: string[];
	/** Peace after quitting (B5). */
	quitSuppressionMs?: number;
}

/** State of a BreakLoop. */
export interface BreakloopView {
	/** The app in front. */
	foreground: string | null;
	/** Quick tasks left in this window. */
	remaining: number;
	/** Quick tasks in a window. */
	limit: number;
	/** Start of the window, Unix milliseconds. */
	windowStart: number;
	/** Its end, when the quota is filled again. */
	windowEnd: number;
	/** Its length. */
	windowHours: number;
	/** Whose wall clock. */
	timezone: string;
	/** Length of a quick task. */
	quickTaskMs: number;
	/** Peace after quitting. */
	quitSuppressionMs: number;
	/** The monitored apps by name, each a breakloop_app_view. */
	apps: Record<string, unknown>;
}

/** Limits of a section. */
export interface InterviewSectionConfig {
	/** Which section of the schema. */
	id: string;
	/** Its length. */
	durationMs?: number;
	/** Most follow-up questions. */
	followupCap?: number;
}

/** Constants of an interview. */
export interface InterviewConfig {
	/** Version of the interview schema. */
	schema?: string;
	/** Who is interviewed; an anonymous token will do. */
	candidateId?: string;
	/** Sections with limits of their own. */
	sections?: InterviewSectionConfig[];
	/** Warnings before the end of a section: up to 8 numbers of milliseconds. */
	warningsMs?: unknown[];
	/** How long after its end a section still takes messages, as late. */
	graceMs?: number;
	/** Longest interview; the sum of the sections unless given (I16). */
	totalMs?: number;
	/** Who judges coverage. */
	evaluator?: InterviewEvaluator;
}

/** What the interview remembers of a section. */
export interface InterviewMemorySection {
	/** Which section. */
	section_id: string;
	/** Why it ended; null while it runs. */
	exit_reason: InterviewExit | null;
	/** Level by dimension. */
	coverage_flags: Record<string, unknown>;
}

/** Working state of this interview; nothing of any other. */
export interface InterviewMemory {
	/** Sections that were begun. */
	sections: InterviewMemorySection[];
}

/** What the candidate's page shows now (IV-9). */
export interface InterviewUi {
	/** The section that runs. */
	current_section: string | null;
	/** What it is for. */
	section_goal_text: string;
	/** Time left in it, m:ss. */
	time_remaining: string;
	/** Names of those to come. */
	upcoming_sections: string[];
	/** chat, code, submit, ask_assistant. */
	allowed_actions: string[];
}

/** State of an interview (IV-3.1, IV-6.2, IV-9). */
export interface InterviewView {
	/** Its id. */
	interview_id: string;
	/** Version of its schema. */
	schema_version: string;
	/** Who is interviewed. */
	candidate_id: string | null;
	/** Where it is. */
	status: InterviewStatus;
	/** The section that runs. */
	current_section_id: string | null;
	/** Where that section is. */
	section_state?: InterviewSubstate | null;
	/** When it began, Unix milliseconds. */
	section_start_time: number | null;
	/** When it ends. */
	section_deadline: number | null;
	/** Follow-up questions left in it. */
	followup_budget_remaining: number;
	/** Level by required dimension of it. */
	coverage_flags: Record<string, unknown>;
	/** What is remembered. */
	memory_state: InterviewMemory;
	/** Number of the last event. */
	event_cursor: number;
	/** The model is judging an answer. */
	evaluating: boolean;
	/** What the candidate's page shows. */
	ui: InterviewUi;
}

/** Constants of an idle guard; those that are left out come from the settings. */
export interface IdleConfig {
	/** Without clients this long: the first check. */
	idleTimeoutMs?: number;
	/** Without clients longer than this: the end, whatever is going on. */
	maxIdleMs?: number;
	/** A turn that is silent longer than this is stuck. */
	staleOutputMs?: number;
	/** Pause between checks while a guard keeps the process. */
	recheckMs?: number;
}

/** State of an idle guard. */
export interface IdleView {
	/** Clients that are connected. */
	clients: number;
	/** Prompts without a result are there. */
	turnInProgress: boolean;
	/** How many (C5). */
	pendingPrompts: number;
	/** Last line of output, or prompt (C4). */
	lastOutputTime: number | null;
	/** When the last client left. */
	idleStart: number | null;
	/** When it is looked at again. */
	nextCheck: number | null;
	/** A guard kept the process at the last check. */
	guardWasDeferred: boolean;
	/** Why the process was to be ended. */
	ended: string | null;
}

/** A guard machine in a list. */
export interface GuardInfo {
	/** Its id. */
	id: string;
	/** Number of its last event. */
	cursor: number;
	/** When it was made, Unix milliseconds. */
	createdAt: number;
	/** Time of its last event. */
	changedAt: number;
	/** When its next timer is due. */
	nextDeadline: number | null;
}

/** The guard machines of a kind. */
export interface GuardList {
	/** Which of the four. */
	kind: GuardKind;
	/** In the order in which they were made. */
	instances: GuardInfo[];
}

/** A stream taken through its rules once more. */
export interface GuardReplay {
	/** Every row came out as it is stored, and the checksums agree. */
	ok: boolean;
	/** Rows that were looked at. */
	rows: number;
	/** Events among them. */
	steps: number;
	/** What does not agree, and where. */
	problem?: string;
}

/** One finding of doctor. */
export interface DoctorFinding {
	/** How bad it is. */
	grade: FindingGrade;
	/** What was looked at. */
	what: string;
	/** What was found. */
	text: string;
	/** What to do about it. */
	advice?: string;
}

/** What `paigectl doctor` finds; the answer to doctor. */
export interface DoctorReport {
	/** In the order of the checks. */
	findings: DoctorFinding[];
}

/** How often a worker was started anew. */
export interface CtlRestarts {
	/** Since the daemon was started. */
	total: number;
	/** In the last minute, at most 16. */
	window_60s: number;
}

/** How a worker ended. */
export interface CtlExit {
	/** exit, signal, or spawn when it could not be executed. */
	kind: string;
	/** Exit code, or errno for spawn. */
	code?: number;
	/** Name of the signal: KILL, SEGV. */
	signal?: string;
	/** Whether a core file was written. */
	core?: boolean;
	/** In words. */
	meaning: string;
	/** ISO 8601. */
	at: string;
	/** Its last lines. */
	log_tail?: string[];
}

/** One worker. */
export interface CtlWorker {
	/** Its name. */
	name: string;
	/** down, stopped (by somebody), starting, ready, stopping, backoff, hung or parked. */
	state: string;
	/** up or down. */
	want: string;
	/** Null while there is no process. */
	pid: number | null;
	/** Of the process. */
	uptime_ms: number;
	/** How often it was started anew. */
	restarts: CtlRestarts;
	/** How it ended last. */
	last_exit?: CtlExit | null;
	/** backoff: until it is started again. */
	next_start_ms?: number;
	/** Since its last sign of life. */
	heartbeat_age_ms: number;
	/** Resident memory. */
	rss_bytes: number;
	/** Of one core, over the last half minute at most. */
	cpu_percent: number;
	/** Time on a processor since its start. */
	cpu_ms: number;
	/** fine, degraded or failing. */
	condition: string;
	/** Why it is not fine. */
	reason?: string;
	/** What the kernel enforces. */
	confinement?: string;
	/** What it says of itself. */
	detail?: unknown;
}

/** The daemon and its workers. */
export interface CtlStatus {
	/** Of the daemon. */
	version: string;
	/** starting, running or stopping. */
	state: string;
	/** Of the supervisor. */
	pid: number;
	/** Of the supervisor. */
	uptime_ms: number;
	/** Where it listens. */
	port: number;
	/** Base URL. */
	url: string;
	/** The project. */
	project_dir: string;
	/** Where it keeps its data. */
	data_dir: string;
	/** Where its sockets are. */
	runtime_dir: string;
	/** The file of --config, absolute. */
	config_file?: string;
	/** Id of the active coaching session. */
	session: string | null;
	/** Resident memory of the supervisor. */
	rss_bytes: number;
	/** Time of the supervisor on a processor since its start. */
	cpu_ms: number;
	/** Size of the file system of data_dir. */
	disk_bytes?: number;
	/** What the daemon may still write on it. */
	disk_free_bytes?: number;
	/** Lines that could not be filed. */
	log_lines_dropped: number;
	/** Of the running kernel; 0 without Landlock. */
	landlock_abi: number;
	/** What confined workers may do all the same on this kernel. */
	confinement_gaps: string[];
	/** In the order of workers.def. */
	workers: CtlWorker[];
}

/** One setting of the running daemon. */
export interface CtlSetting {
	/** Its name. */
	name: string;
	/** Its value; secrets are masked. */
	value: string;
	/** environment, .env, config file or default. */
	source: string;
	/** What it is for. */
	meaning: string;
}

/** All settings of the running daemon. */
export interface CtlConfig {
	/** In the order of settings.def. */
	settings: CtlSetting[];
}

/** Turns a stream of messages to this window on or off. It is off in a new connection. */
export interface Follow {
	/** True for on. */
	follow: boolean;
}

/** A page of the action log, the newest row first. */
export interface LogQuery {
	/** Rows with a lower number only: `next` of the page before. The newest without it. */
	before?: number;
	/** How many at most; 100 without it. */
	limit?: number;
	/** Rows of these types only; of every type without it. */
	types?: string[];
	/** Rows whose type or data contains this text, ASCII letters in either case. */
	text?: string;
	/** Rows of this session only. */
	sessionId?: string;
}

/** A page of the action log. It may hold fewer rows than asked for, or none, and still have a `next`: a page takes a bounded time, however rare the rows are. */
export interface LogRows {
	/** The newest first. Data of more than 65536 bytes is left out (null). */
	rows: ActionEvent[];
	/** `before` of the next page; absent at the end of the log. */
	next?: number;
}

/** Why the Observer spoke, or stayed silent. */
export interface ObserverDecision {
	/** Its number; later decisions have higher ones. */
	n: number;
	/** When, ISO 8601 with milliseconds. */
	at: string;
	/** The coaching session. */
	sessionId: string;
	/** What made it look. */
	trigger: ObserverTrigger;
	/** What it decided. */
	verdict: ObserverVerdict;
	/** What the model saw; null when it did not answer. */
	signal: NudgeSignal | null;
	/** How sure the model was; null when it did not answer. */
	confidence: number | null;
	/** OBSERVER_MIN_CONFIDENCE: how sure it must be. */
	threshold: number;
	/** Why, in the words of the model, or why it could not be asked; its beginning. */
	reasoning?: string;
}

/** A page of the Observer's decisions, the newest first. */
export interface ObserverDecisionsQuery {
	/** Decisions with a lower number only: `next` of the page before. The newest without it. */
	before?: number;
	/** How many at most; 100 without it. */
	limit?: number;
}

/** A page of the Observer's decisions. It remembers the last 1,000 since the worker was started; nudge_sent and nudge_suppressed stay in the action log. */
export interface ObserverDecisions {
	/** The newest first. */
	decisions: ObserverDecision[];
	/** `before` of the next page; absent at the end. */
	next?: number;
	/** At the end: how many older ones there were since the worker was started, which it no longer remembers. Absent when there were none. */
	forgotten?: number;
}

/** What calls to Claude cost in the last days. */
export interface CostQuery {
	/** How many days (UTC), with today; 30 without it. */
	days?: number;
}

/** Calls of one day, model or kind. */
export interface CostGroup {
	/** The day (2026-11-29), the model or the kind of call; empty for all of them together. */
	key: string;
	/** Calls. */
	calls: number;
	/** Those that failed. */
	failures: number;
	/** Those that were cancelled. */
	cancelled: number;
	/** Tokens in. */
	inputTokens: number;
	/** Tokens out. */
	outputTokens: number;
	/** US dollars. */
	cost: number;
	/** Over those that went well; null without any. */
	averageLatencyMs: number | null;
}

/** What may be spent, and what was. */
export interface CostBudget {
	/** BUDGET_DAY_USD; null without a limit. */
	day: number | null;
	/** BUDGET_SESSION_USD; null without a limit. */
	session: number | null;
	/** US dollars, since midnight UTC. */
	spentDay: number;
	/** US dollars, in the active session; 0 without one. */
	spentSession: number;
}

/** What calls to Claude cost. */
export interface CostTotals {
	/** The beginning of the first day, ISO 8601. */
	since: string;
	/** All of them. */
	total: CostGroup;
	/** By day, in order; a day without calls is not there. */
	days: CostGroup[];
	/** By model, the dearest first. */
	models: CostGroup[];
	/** By kind of call (prompts/calls.def), the dearest first. */
	kinds: CostGroup[];
	/** Against which it is held. */
	budget: CostBudget;
}

/** What the learner did in the last days. */
export interface ProgressQuery {
	/** How many days (UTC), with today; 30 without it. */
	days?: number;
}

/** One day. */
export interface ProgressDay {
	/** 2026-11-29, UTC. */
	day: string;
	/** Rows of the action log. */
	actions: number;
	/** Sessions that began. */
	sessions: number;
	/** How long these sessions were; one that is not over, until its last action. */
	minutes: number;
}

/** What the learner did, by day. */
export interface ProgressDays {
	/** The beginning of the first day, ISO 8601. */
	since: string;
	/** In order; a day without anything is not there. */
	days: ProgressDay[];
}

/** The bus as the gateway sees it, since the gateway was started. */
export interface BusFigures {
	/** Calls made to other workers. */
	calls: number;
	/** Calls that were not answered in time. */
	timeouts: number;
	/** Calls lost with their worker. */
	resets: number;
	/** Calls made again. */
	repeats: number;
	/** Events received. */
	events: number;
	/** Gaps seen in events. */
	gaps: number;
	/** Calls that are waited for now. */
	inFlight: number;
	/** Windows that are connected now. */
	windows: number;
}

/** The daemon, its workers and the bus. */
export interface StatusState {
	/** What `paigectl status --json` shows. */
	daemon: CtlStatus;
	/** The bus. */
	bus: BusFigures;
}

/** One worker. */
export interface WorkerRef {
	/** Its name, one of workers.def. */
	worker: string;
}

/** A worker was started anew and is ready. */
export interface WorkerRestarted {
	/** Its name. */
	worker: string;
	/** How long it took. */
	tookMs: number;
}

/** Lines of the log of a worker or of the supervisor, the last ones unless it says which. */
export interface WorkerLogQuery {
	/** A name of workers.def, or `paiged` for the supervisor. */
	worker: string;
	/** How many at most; 100 without it. */
	lines?: number;
	/** Lines of this level and above; all without it. */
	level?: LogLineLevel;
	/** What was written since: `next` of the answer before. */
	after?: number;
	/** What is older: `first` of an earlier answer. */
	before?: number;
}

/** Lines of a log, of at most 256 KiB of it. A position counts bytes through the older files into the newest one, and is valid in one epoch. */
export interface WorkerLogLines {
	/** Its name. */
	worker: string;
	/** Texts, in order, without line ends; what is no text is a question mark. */
	lines: unknown[];
	/** The position of the oldest line that was looked at; absent when there is no older one. */
	first?: number;
	/** The position behind the last line that was looked at. */
	next: number;
	/** Lines behind `after` are not here: there were too many, or their file is gone. */
	missed: boolean;
}

/** An agent session. While a client is connected its program is never ended; without clients it is looked at from time to time. */
export interface AgentSessionState {
	/** As /agent?session= takes it. */
	sessionId: string;
	/** Where it works; absolute. */
	folder: string;
	/** Its program runs; else the next prompt starts it. */
	running: boolean;
	/** It is being ended. */
	ending: boolean;
	/** Connected clients. */
	clients: number;
	/** Prompts without a result. */
	prompts: number;
	/** Time until the next check; null while clients are connected, and while it is being ended. It stands still while the computer sleeps, as the following. */
	checkMs?: number | null;
	/** That check ends it, unless something happens until then. */
	checkEnds: boolean;
	/** Why that check will end or keep it. */
	checkReason?: string | null;
	/** Time until it is ended, whatever its program does; null as checkMs. */
	latestMs?: number | null;
}

/** The agent sessions. */
export interface AgentsState {
	/** The newest first. */
	sessions: AgentSessionState[];
}

/** Payloads of the messages of an editor. */
export interface ClientPayloads {
	/** First message; answered by connection:init. */
	"connection:hello": ConnectionHello;
	/** Answered by connection:pong to the sender, at once: for pages, which cannot send the pings of WebSocket. */
	"connection:ping": Empty;
	/** Answered by fs:listed to the sender. */
	"fs:list": FsList;
	/** Answered by fs:content to all. */
	"file:open": FileOpen;
	/** Answered by fs:save_ack or fs:save_error to all. */
	"file:save": FileSave;
	/** Not answered. */
	"file:close": FileClose;
	/** Not answered. */
	"buffer:update": BufferUpdate;
	/** Answered by buffers:state to the sender. Where that has `next`, there is more: ask again with it as `after`. */
	"buffers:request": FsStateQuery;
	/** Not answered. */
	"editor:tab_switch": EditorTabSwitch;
	/** Not answered. */
	"editor:selection": EditorSelection;
	/** Answered by editor:highlight_dismissed to all. */
	"editor:dismiss_highlight": EditorHighlightRef;
	/** Answered by explorer:hint_dismissed to all. */
	"explorer:dismiss_hint": ExplorerHintRef;
	/** Not answered. A model sees them in paige_get_session_state. */
	"editor:diagnostics": EditorDiagnostics;
	/** Ignored. */
	"editor:scroll": EditorScroll;
	/** Ignored. */
	"explorer:expand_dir": ExplorerDir;
	/** Ignored. */
	"explorer:collapse_dir": ExplorerDir;
	/** Not answered. */
	"hints:level_change": HintsLevelChange;
	/** Kept with the connection. */
	"terminal:ready": TerminalSize;
	/** Kept with the connection. */
	"terminal:resize": TerminalSize;
	/** Ignored. */
	"terminal:input": TerminalInput;
	/** Not answered. */
	"user:idle_start": UserIdleStart;
	/** Not answered. */
	"user:idle_end": Empty;
	/** Answered by session:started to all. */
	"session:start": SessionStart;
	/** Answered by session:resumed to all. */
	"session:resume": SessionResume;
	/** Answered by session:ended to all. */
	"session:end": Empty;
	/** Answered by dashboard:state to all, then by dashboard:issues and dashboard:materials or their errors. */
	"dashboard:request": DashboardRequest;
	/** Answered by dashboard:issues or dashboard:issues_error to all. */
	"dashboard:refresh_issues": Empty;
	/** Answered by explain:response or explain:error to all. */
	"user:explain": UserExplain;
	/** Answered by practice:kata_load to the sender. NOT_FOUND for a kata that is not there. */
	"practice:open_kata": PracticeOpenKata;
	/** Answered by review:response or review:error to all. */
	"user:review": UserReview;
	/** Answered as user:review, and by practice:solution_review to all. */
	"practice:submit_solution": PracticeSubmitSolution;
	/** Answered by observer:status to all; ignored without a session (EC-70). */
	"observer:mute": ObserverMute;
	/** Not answered. After helpful: false the time until the next nudge begins anew. */
	"observer:nudge_answer": ObserverNudgeAnswer;
	/** Answered by log:rows to the sender. */
	"log:page": LogQuery;
	/** While it is on, log:row for each new row and observer:decision for each decision. Not answered. */
	"log:follow": Follow;
	/** Answered by observer:decisions to the sender. */
	"observer:history": ObserverDecisionsQuery;
	/** Answered by cost:totals to the sender. */
	"cost:request": CostQuery;
	/** Answered by progress:days to the sender. */
	"progress:request": ProgressQuery;
	/** Answered by status:state to the sender. NOT_ALLOWED for a window that neither runs as the user of the daemon or root nor has shown the token, as the following. */
	"status:request": Empty;
	/** While it is on, status:state once a second. Not answered. */
	"status:follow": Follow;
	/** Answered by settings:state to the sender. */
	"settings:request": Empty;
	/** Answered by worker:restarted to the sender, once it is ready again; not at all when it is the gateway, whose windows are disconnected. */
	"worker:restart": WorkerRef;
	/** Answered by worker:log_lines to the sender. To follow a log, ask again with `after`. */
	"worker:log": WorkerLogQuery;
	/** Answered by doctor:report to the sender, after some seconds. */
	"doctor:request": Empty;
	/** Answered by agents:state to the sender. NOT_FOUND without AGENT_COMMAND. */
	"agents:request": Empty;
	/** While it is on, agents:state after changes. Not answered. */
	"agents:follow": Follow;
	/** Answered by guard:machines to the sender. */
	"guard:list": GuardListQuery;
	/** While it is on, guard:state and guard:effect of every machine. Not answered. */
	"guard:follow": Follow;
	/** Answered by guard:stream to the sender: a page of the stream of a machine, in order. The next page is that since the last seq; one without events is the end. */
	"guard:events": GuardEventsQuery;
	/** Answered by guard:replayed to the sender. */
	"guard:replay": GuardRef;
	/** Answered by guard:state to the sender, at once and after every change. */
	"guard:subscribe": GuardRef;
	/** Answered by guard:result to the sender. */
	"guard:event": GuardEvent;
}

/** Payloads of the messages of the daemon. */
export interface ServerPayloads {
	/** To the sender of connection:hello. */
	"connection:init": ConnectionInit;
	/** Answers connection:ping. */
	"connection:pong": Empty;
	/** To the sender, or to all for a file that cannot be opened (EC-26). */
	"connection:error": ConnectionError;
	/** After connection:init, at the start of a session, and after a burst of changes. */
	"fs:tree": FsTree;
	/** To windows whose hello says listsDirectories, in place of fs:tree at the start of a session and after a burst of changes: what they know of directories may be out of date. They ask with fs:list for those that they show. */
	"fs:tree_stale": Empty;
	/** Answers fs:list: the directory as `root`, with what is in it; what is in its directories is not told. */
	"fs:listed": FsTree;
	/** One change in the project. */
	"fs:tree_update": FsTreeUpdate;
	/** Answers file:open. */
	"fs:content": FsContent;
	/** Answers file:save. */
	"fs:save_ack": FsSaveAck;
	/** Answers file:save. */
	"fs:save_error": FsSaveError;
	/** Answers buffers:request: of open_files, buffers, diffs and diagnostics what it asks for. Unsaved is what has a diff. */
	"buffers:state": FsState;
	/** From paige_open_file. */
	"editor:open_file": EditorOpenFile;
	/** From paige_highlight_lines. */
	"editor:highlight_lines": EditorHighlightLines;
	/** From paige_clear_highlights. */
	"editor:clear_highlights": EditorClearHighlights;
	/** Answers editor:dismiss_highlight. */
	"editor:highlight_dismissed": EditorHighlightRef;
	/** Answers session:start. */
	"session:started": SessionStarted;
	/** Answers session:resume; fresh state for a client of another epoch. */
	"session:resumed": SessionResumed;
	/** Answers session:end. */
	"session:ended": SessionEnded;
	/** From paige_end_session. */
	"session:completed": SessionCompleted;
	/** From paige_hint_files and the coaching pipeline. */
	"explorer:hint_files": ExplorerHintFiles;
	/** From paige_clear_hints. */
	"explorer:clear_hints": Empty;
	/** Answers explorer:dismiss_hint. */
	"explorer:hint_dismissed": ExplorerHintRef;
	/** From paige_update_phase. */
	"coaching:phase_update": CoachingPhaseUpdate;
	/** From paige_show_message. */
	"coaching:message": CoachingMessage;
	/** From paige_show_issue_context. */
	"coaching:issue_context": CoachingIssueContext;
	/** While paige_run_coaching_pipeline or paige_end_session is under way; to windows whose hello says wantsProgress. */
	"coaching:progress": CoachingProgress;
	/** From paige_run_coaching_pipeline. */
	"coaching:plan_ready": CoachingPlanReady;
	/** When the Observer thinks that a word would help. */
	"observer:nudge": ObserverNudge;
	/** At the start and end of a session, and after observer:mute. */
	"observer:status": ObserverStatus;
	/** Answers user:explain. */
	"explain:response": ExplainResponse;
	/** Answers user:explain. */
	"explain:error": ExplainError;
	/** Answers practice:open_kata. */
	"practice:kata_load": PracticeKataLoad;
	/** Answers user:review. */
	"review:response": ReviewResponse;
	/** Answers user:review. */
	"review:error": ReviewError;
	/** Answers practice:submit_solution. */
	"practice:solution_review": PracticeSolutionReview;
	/** Answers dashboard:request. */
	"dashboard:state": DashboardState;
	/** Answers dashboard:request and dashboard:refresh_issues. */
	"dashboard:issues": DashboardIssues;
	/** Answers dashboard:request and dashboard:refresh_issues. */
	"dashboard:issues_error": DashboardError;
	/** Answers dashboard:request. */
	"dashboard:materials": DashboardMaterials;
	/** Answers dashboard:request. */
	"dashboard:materials_error": DashboardError;
	/** Answers log:page. */
	"log:rows": LogRows;
	/** A new row of the action log, to windows that follow it. Where `n` leaps, rows were missed: log:page has them. */
	"log:row": ActionEvent;
	/** Answers observer:history. */
	"observer:decisions": ObserverDecisions;
	/** When the Observer has decided whether to speak, to windows that follow the log (log:follow). */
	"observer:decision": ObserverDecision;
	/** Answers cost:request. */
	"cost:totals": CostTotals;
	/** Answers progress:request. */
	"progress:days": ProgressDays;
	/** Answers status:request, and once a second to windows that follow it. */
	"status:state": StatusState;
	/** Answers settings:request. Secrets are masked. */
	"settings:state": CtlConfig;
	/** Answers worker:restart. */
	"worker:restarted": WorkerRestarted;
	/** Answers worker:log. */
	"worker:log_lines": WorkerLogLines;
	/** Answers doctor:request. */
	"doctor:report": DoctorReport;
	/** Answers agents:request, and to windows that follow after changes, a quarter of a second for all that happens in it. */
	"agents:state": AgentsState;
	/** Answers guard:list. */
	"guard:machines": GuardList;
	/** Answers guard:events. */
	"guard:stream": GuardEvents;
	/** Answers guard:replay. */
	"guard:replayed": GuardReplay;
	/** Answers guard:subscribe, and after every change; for guard:follow after every change. */
	"guard:state": GuardState;
	/** To those subscribed or following, for each effect. */
	"guard:effect": GuardEffect;
	/** Answers guard:event, with its id. */
	"guard:result": GuardResult;
	/** Declared, never sent (P5.12). */
	"dashboard:dreyfus": DashboardDreyfus;
	/** Declared, never sent (P5.18). */
	"editor:decorations": EditorDecorations;
	/** Declared, never sent (P5.18). */
	"editor:clear_decorations": EditorClearDecorations;
	/** Declared, never sent (P5.18). */
	"editor:hover_hint": EditorHoverHint;
}

/** A message of an editor. `id` comes back in the answer. */
export interface ClientEnvelope<T extends string, P> {
	type: T;
	payload: P;
	id?: string;
	/** Unix milliseconds. */
	timestamp?: number;
}

/** A message of the daemon. */
export interface ServerEnvelope<T extends string, P> {
	type: T;
	payload: P;
	/** Of the message that this one answers. */
	id?: string;
	/** Unix milliseconds. */
	timestamp: number;
	/** Counts the messages of a connection from 1; resume with the last one seen. */
	seq: number;
}

export type ClientMessageType = keyof ClientPayloads;
export type ServerMessageType = keyof ServerPayloads;

/** Every message of an editor, told apart by its type. */
export type ClientMessage = { [T in ClientMessageType]: ClientEnvelope<T, ClientPayloads[T]> }[ClientMessageType];

/** Every message of the daemon, told apart by its type. */
export type ServerMessage = { [T in ServerMessageType]: ServerEnvelope<T, ServerPayloads[T]> }[ServerMessageType];

/** The MCP tools. */
export interface McpTools {
	/** Returns what the learner has in the editor for one file, edits that are not saved yet included, with the cursor and whether it is dirty. Use it before you speak of code that the learner works on. Saved text is what is on disk now; conflict says that another program changed the file under unsaved edits. null: the file was not edited, so read it from disk. A small buffer comes whole; of a large one, or with startLine and endLine, you get numbered lines, and `more` says how to go on. */
	paige_get_buffer: { input: ToolGetBufferInput; output: unknown };
	/** Returns the files that are open in the learner's editor, in the order in which they were opened. Use it when you need nothing but the names; paige_get_session_state has them, too. */
	paige_get_open_files: { input: Empty; output: ToolGetOpenFilesOutput };
	/** Returns unified diffs from the files on disk to the learner's unsaved buffers, for one file or for all of them. Use it to see what the learner has changed since the last save. Empty when everything is saved: what was changed by then, git knows. A long diff is cut at a line, and its `more` says how to go on. */
	paige_get_diff: { input: ToolGetDiffInput; output: ToolGetDiffOutput };
	/** Opens a file of the project in the learner's editor, or brings its tab to the front. Use it before you point at lines of a file, so that the learner sees them. The learner may be typing elsewhere: open one file at a time. */
	paige_open_file: { input: ToolOpenFileInput; output: ToolOpenFileOutput };
	/** Highlights lines of a file in the learner's editor, optionally with a text under the pointer. Use it to point at the code that you speak of, when the hint level of the session is region or line. It does not bring the file to the front: call paige_open_file first. Highlights add up until paige_clear_highlights. */
	paige_highlight_lines: { input: ToolHighlightLinesInput; output: ToolSuccess };
	/** Removes highlighted lines, in one file or in all. Use it when what they point at is dealt with, and before you point at something else. The files themselves stay as they are. */
	paige_clear_highlights: { input: ToolClearHighlightsInput; output: ToolSuccess };
	/** Returns the state of the active coaching session: open files, unsaved buffers (long ones without their text) and their diffs, the current phase and the plan, progress, hints, the session with the hint level, and the learner's skills; with include also the active tab, the selection, the text of the phase, recent actions and what compilers and linters report. Call it at the start of a conversation. */
	paige_get_session_state: { input: ToolGetSessionStateInput; output: unknown };
	/** Makes files light up in the learner's file explorer: hints with a style for each file, or paths with one style for all. Use it to say where to look without opening anything, unless the hint level of the session is none. Hints add up until paige_clear_hints. */
	paige_hint_files: { input: ToolHintFilesInput; output: ToolSuccess };
	/** Removes all file hints from the learner's file explorer. Use it when the learner has found the files, and when another phase begins. The files themselves stay as they are. */
	paige_clear_hints: { input: Empty; output: ToolSuccess };
	/** Makes a phase of the coaching plan active or complete, and shows that to the learner. Call it when the learner begins a phase, and when its work is done and you have looked at it. Needs an active session with a plan (paige_run_coaching_pipeline). */
	paige_update_phase: { input: ToolUpdatePhaseInput; output: ToolUpdatePhaseOutput };
	/** Shows the learner a coaching message beside the code, optionally at a place in a file. Use it for a hint, praise or a warning of a few sentences that belongs where the learner looks; what needs a conversation belongs there. */
	paige_show_message: { input: ToolShowMessageInput; output: ToolSuccess };
	/** Shows the learner the issue that is worked on, in place of the one shown before. Call it once you have read the issue, and again when another one is worked on. */
	paige_show_issue_context: { input: ToolShowIssueContextInput; output: ToolSuccess };
	/** Turns a plan for a change into coaching: phases with hints that fit the learner, stored with the session and shown in the editor. Call it once, when you have explored the code and written the plan; then paige_update_phase makes the first phase active. Asks Claude, which costs money and takes up to some minutes. Needs an active session. If the answer got lost, call it again with the same arguments: what was made already is found and not paid twice. Otherwise each call makes another plan. */
	paige_run_coaching_pipeline: { input: ToolRunCoachingPipelineInput; output: ToolRunCoachingPipelineOutput };
	/** Ends the coaching session for good: finds knowledge gaps, makes katas, assesses skills and keeps memories. Asks Claude, which costs money and takes up to some minutes. Only when the learner wants to stop. If the answer got lost, call it again with the same arguments: what was done already is found and not paid twice. */
	paige_end_session: { input: ToolEndSessionInput; output: ToolEndSessionOutput };
}

/** The guard machines by kind. */
export interface GuardKinds {
	"session-guard": { config: SessionGuardConfig; state: SessionGuardView };
	"breakloop": { config: BreakloopConfig; state: BreakloopView };
	"interview": { config: InterviewConfig; state: InterviewView };
	"idle": { config: IdleConfig; state: IdleView };
}
