// What the page's libraries, which are classic scripts, leave in the global scope.
declare const CodeMirror: any;
declare const Chart: any;
